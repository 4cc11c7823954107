CALL db.index.fulltext.queryNodes('passage_text', $words, {limit: $limit}) YIELD node, score
WHERE node.since <= $version AND (node.until IS NULL OR node.until > $version)
RETURN node.id AS id, score
