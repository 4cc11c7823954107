// An index also finds nodes that others gave the label: they are counted, but are not passages.
CALL db.index.vector.queryNodes('cairn_passage_embedding', $limit, $vector) YIELD node, score
RETURN CASE WHEN node.cairnSince <= $version AND (node.cairnUntil IS NULL OR node.cairnUntil > $version)
  THEN node.id END AS id, score
