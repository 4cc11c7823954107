MATCH (p:Passage)
WITH p, COLLECT {
  MATCH (p)<-[r:MENTIONED_IN]-(e:Entity)
  WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
  RETURN [e.id, r.cairnCues]
} AS mentions
WHERE size(mentions) > 0
RETURN p.id AS passage, mentions
