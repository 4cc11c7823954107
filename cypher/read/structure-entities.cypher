MATCH (e:Entity)
WHERE e.cairnSince <= $version AND (e.cairnUntil IS NULL OR e.cairnUntil > $version)
RETURN e.id AS id, e.folded AS folded, e.cairnFlags AS flags
