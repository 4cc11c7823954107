CALL db.index.fulltext.queryRelationships('leads_to_text', $words, {limit: $limit}) YIELD relationship AS r, score
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN startNode(r).id AS from, endNode(r).id AS to, score
