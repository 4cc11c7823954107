UNWIND $ids AS id
MATCH (q:Incoming&Question) USING INDEX SEEK q:Question(id, since)
WHERE q.id STARTS WITH id AND q.since <= $version
MATCH (q)-[r:ANSWERED_BY]->(p:Passage)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN p.id AS passage, collect([q.id, q.place, q.sentence, q.text, q.keywords]) AS questions
