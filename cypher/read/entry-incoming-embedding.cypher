// An index also finds nodes that others gave the label: they are counted, and have no passage.
CALL db.index.vector.queryNodes('cairn_incoming_embedding', $limit, $vector) YIELD node, score
OPTIONAL MATCH (node)-[r:ANSWERED_BY]->(p:Passage)
WHERE node.cairnSince <= $version AND (node.cairnUntil IS NULL OR node.cairnUntil > $version)
  AND r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN p.id AS id, node.id AS question, CASE WHEN $vectors AND p IS NOT NULL THEN node.embedding END AS embedding, score
