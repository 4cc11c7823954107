MATCH (n:<labels>)
WHERE n.cairnSince IS NOT NULL
RETURN n.id AS id, n.cairnSince AS since, n.cairnUntil AS until, n.cairnDigest AS digest
