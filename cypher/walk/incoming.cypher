UNWIND $ids AS id
MATCH (q:Incoming&Question) USING INDEX SEEK q:Question(id, cairnSince)
WHERE q.id STARTS WITH id AND q.cairnSince <= $version
MATCH (q)-[r:ANSWERED_BY]->(p:Passage)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN p.id AS passage, collect([q.id, q.place, q.sentence, q.text, q.keywords]) AS questions
