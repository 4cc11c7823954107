MATCH (p:Passage)
WITH p, COLLECT {
  MATCH (p)-[r:LEADS_TO|MAY_LEAD_TO]->(to:Passage)
  WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
  RETURN [to.id, r.cairnIncoming, r.cairnOutgoing, r.similarity]
} AS edges
WHERE size(edges) > 0
RETURN p.id AS passage, edges
