CALL db.index.vector.queryNodes('passage_embedding', $limit, $vector) YIELD node, score
WHERE node.since <= $version AND (node.until IS NULL OR node.until > $version)
RETURN node.id AS id, score
