MATCH (s:Summary)
WHERE s.cairnSince <= $version AND (s.cairnUntil IS NULL OR s.cairnUntil > $version) AND s.origin = 'model'
RETURN s.id AS id, properties(s) AS properties
