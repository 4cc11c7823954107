MATCH (d:Document)
WHERE d.since <= $version AND (d.until IS NULL OR d.until > $version)
RETURN d.id AS id, properties(d) AS properties
