// An index also finds nodes that others gave the label: they are counted, but are not passages.
CALL db.index.fulltext.queryNodes('cairn_passage_text', $words, {limit: $limit}) YIELD node, score
RETURN CASE WHEN node.cairnSince <= $version AND (node.cairnUntil IS NULL OR node.cairnUntil > $version)
  THEN node.id END AS id, score
