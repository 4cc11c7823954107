MATCH (p:Passage)
WITH p, COLLECT {
  MATCH (p)<-[r:MENTIONED_IN]-(e:Entity)
  WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
    AND (r.since > $after OR r.changed > $after)
  RETURN [e.id, r.sentences, r.cues]
} AS mentions
WHERE size(mentions) > 0
RETURN p.id AS passage, mentions
