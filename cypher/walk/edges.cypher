UNWIND $passages AS row
MATCH (a:Passage {id: row.id, since: row.since})-[r:LEADS_TO]->(b:Passage)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN a.id AS from, b.id AS to, r.incoming AS incoming, r.outgoing AS outgoing, r.similarity AS similarity
