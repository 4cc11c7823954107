CALL db.index.vector.queryNodes('incoming_embedding', $limit, $vector) YIELD node, score
WHERE node.since <= $version AND (node.until IS NULL OR node.until > $version)
MATCH (node)-[r:ANSWERED_BY]->(p:Passage)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN p.id AS id, node.id AS question, node.embedding AS embedding, score
