MATCH (p:Passage)
WITH p, COLLECT {
  MATCH (p)<-[r:ANSWERED_BY]-(q:Incoming)
  WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
  RETURN [q.id, q.cairnPlace, q.name, q.keywords]
} AS questions
WHERE size(questions) > 0
RETURN p.id AS passage, questions
