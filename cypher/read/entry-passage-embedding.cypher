// An index also finds what others have put under the label: that is counted, and is no passage.
CALL db.index.vector.queryNodes('cairn_passage_embedding', $limit, $vector) YIELD node, score
RETURN CASE WHEN node.cairnSince <= $version AND (node.cairnUntil IS NULL OR node.cairnUntil > $version)
  THEN node.id END AS id, score
