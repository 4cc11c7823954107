// The entity that a name stands for unless a document says otherwise: another, or itself.
MATCH (n:Entity {id: $id})
WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version)
OPTIONAL MATCH (n)-[r:SAME_AS]->(e:Entity)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) AND r.documents IS NULL
RETURN 'entity' AS kind, coalesce(e.id, n.id) AS id, coalesce(e.folded, n.folded) AS name
LIMIT 1
