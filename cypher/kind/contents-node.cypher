MATCH (n:<labels>)
WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version)
RETURN n.id AS id, n.cairnDigest AS digest, properties(n) AS properties
