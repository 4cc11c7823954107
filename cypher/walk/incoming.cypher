UNWIND $passages AS row
MATCH (p:Passage {id: row.id, since: row.since})<-[r:ANSWERED_BY]-(q:Incoming)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN q.id AS id, p.id AS passage, q.place AS place, q.sentence AS sentence, q.text AS text, q.keywords AS keywords
