UNWIND $ids AS id
MATCH (q:Outgoing&Question) USING INDEX SEEK q:Question(id, since)
WHERE q.id STARTS WITH id AND q.since <= $version
MATCH (q)<-[r:ASKS]-(p:Passage)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN q.id AS id, p.id AS passage, q.place AS place, q.sentence AS sentence, q.text AS text, q.keywords AS keywords
