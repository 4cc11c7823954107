MATCH (u:Unit)
WHERE u.cairnSince <= $version AND (u.cairnUntil IS NULL OR u.cairnUntil > $version)
RETURN u.id AS id, properties(u) AS properties
