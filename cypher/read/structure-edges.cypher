MATCH (a:Passage)-[r:LEADS_TO]->(b:Passage)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
  AND (r.since > $after OR r.changed > $after)
RETURN a.id AS from, b.id AS to, r.incoming AS incoming, r.outgoing AS outgoing, r.similarity AS similarity
