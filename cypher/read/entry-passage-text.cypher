// An index also finds what others have put under the label: that is counted, and is no passage.
CALL db.index.fulltext.queryNodes('cairn_passage_text', $words, {limit: $limit}) YIELD node, score
RETURN CASE WHEN node.cairnSince <= $version AND (node.cairnUntil IS NULL OR node.cairnUntil > $version)
  THEN node.id END AS id, score
