MATCH (p:Passage)
WITH p, COLLECT {
  MATCH (p)<-[r:ANSWERED_BY]-(q:Incoming)
  WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
    AND (r.since > $after OR r.changed > $after OR q.changed > $after)
  RETURN [q.id, q.place, q.sentence, q.text, q.keywords]
} AS questions
WHERE size(questions) > 0
RETURN p.id AS passage, questions
