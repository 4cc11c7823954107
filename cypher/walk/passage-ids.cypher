MATCH (p:Passage)
WHERE p.cairnSince <= $version AND (p.cairnUntil IS NULL OR p.cairnUntil > $version)
RETURN p.id AS id
