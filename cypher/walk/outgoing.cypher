UNWIND $ids AS id
MATCH (q:Outgoing&Question) USING INDEX SEEK q:Question(id, since)
WHERE q.id STARTS WITH id AND q.since <= $version
MATCH (q)<-[r:ASKS]-(p:Passage)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN p.id AS passage, collect([q.id, q.place, q.sentence, q.text, q.keywords]) AS questions
