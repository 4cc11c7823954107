MATCH (q:Incoming)-[r:ANSWERED_BY]->(p:Passage)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
  AND (r.since > $after OR r.changed > $after OR q.changed > $after)
RETURN q.id AS id, p.id AS passage, q.place AS place, q.sentence AS sentence, q.text AS text, q.keywords AS keywords
