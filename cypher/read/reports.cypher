MATCH (c:Community)
WHERE c.cairnSince <= $version AND (c.cairnUntil IS NULL OR c.cairnUntil > $version) AND c.origin = 'model'
RETURN c.id AS id, properties(c) AS properties
