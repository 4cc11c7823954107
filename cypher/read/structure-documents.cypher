MATCH (d:Document)
WHERE d.cairnSince <= $version AND (d.cairnUntil IS NULL OR d.cairnUntil > $version)
RETURN d.id AS id, properties(d) AS properties
