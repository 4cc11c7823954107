UNWIND $ids AS id
MATCH (q:Outgoing) USING INDEX SEEK q:Outgoing(id)
WHERE q.id STARTS WITH id AND q.cairnSince <= $version
MATCH (q)<-[r:ASKS]-(p:Passage)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN p.id AS passage, collect([q.id, q.cairnPlace, q.name, q.keywords]) AS questions
