MATCH (p:Passage)-[r:ASKS]->(q:Outgoing)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN q.id AS id, p.id AS passage, q {.origin, .text, .keywords, .sentence, .place} AS properties
