MATCH (s:Summary)
WHERE s.cairnSince <= $version AND (s.cairnUntil IS NULL OR s.cairnUntil > $version)
RETURN s.id AS id, properties(s) AS properties
