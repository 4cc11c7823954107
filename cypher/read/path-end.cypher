// The node with an id, as a path shows it.
MATCH (n:Passage|Entity|Document {id: $id})
WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version)
RETURN
  CASE WHEN n:Passage THEN 'passage' WHEN n:Entity THEN 'entity' ELSE 'document' END AS kind,
  n.id AS id, CASE WHEN n:Passage THEN n.title WHEN n:Entity THEN n.folded ELSE n.name END AS name, n.section AS section
