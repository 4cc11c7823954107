MATCH (d:Document)
WHERE d.since <= $version AND (d.until IS NULL OR d.until > $version)
  AND (d.since > $after OR d.changed > $after)
RETURN d.id AS id, properties(d) AS properties
