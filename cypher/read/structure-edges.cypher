MATCH (p:Passage)
WITH p, COLLECT {
  MATCH (p)-[r:LEADS_TO]->(to:Passage)
  WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
    AND (r.since > $after OR r.changed > $after)
  RETURN [to.id, r.incoming, r.outgoing, r.similarity]
} AS edges
WHERE size(edges) > 0
RETURN p.id AS passage, edges
