MATCH (p:Passage)
WITH p, COLLECT {
  MATCH (p)-[r:LEADS_TO]->(to:Passage)
  WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
    AND (r.cairnSince > $after OR r.cairnChanged > $after)
  RETURN [to.id, r.incoming, r.outgoing, r.similarity]
} AS edges
WHERE size(edges) > 0
RETURN p.id AS passage, edges
