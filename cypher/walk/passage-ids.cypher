MATCH (p:Passage)
WHERE p.since <= $version AND (p.until IS NULL OR p.until > $version)
RETURN p.id AS id
