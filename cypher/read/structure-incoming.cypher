MATCH (p:Passage)
WITH p, COLLECT {
  MATCH (p)<-[r:ANSWERED_BY]-(q:Incoming)
  WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
    AND (r.cairnSince > $after OR r.cairnChanged > $after OR q.cairnChanged > $after)
  RETURN [q.id, q.place, q.sentence, q.text, q.keywords]
} AS questions
WHERE size(questions) > 0
RETURN p.id AS passage, questions
