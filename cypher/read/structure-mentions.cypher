MATCH (p:Passage)
WITH p, COLLECT {
  MATCH (p)<-[r:MENTIONED_IN]-(e:Entity)
  WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
    AND (r.cairnSince > $after OR r.cairnChanged > $after)
  RETURN [e.id, r.sentences, r.cues]
} AS mentions
WHERE size(mentions) > 0
RETURN p.id AS passage, mentions
