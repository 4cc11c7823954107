MATCH (u:Unit)
WHERE u.since <= $version AND (u.until IS NULL OR u.until > $version)
RETURN u.id AS id, properties(u) AS properties
