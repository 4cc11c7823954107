MATCH (p:Passage)-[r:ASKS]->(q:Outgoing)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN q.id AS id, p.id AS passage, q {.origin, .name, .keywords, .cairnPlace} AS properties
