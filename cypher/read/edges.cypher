MATCH (a:Passage)-[r:LEADS_TO]->(b:Passage)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN r.id AS id, a.id AS from, b.id AS to, properties(r) AS properties
