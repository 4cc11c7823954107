MATCH (a:Passage)-[r:LEADS_TO]->(b:Passage)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN r.id AS id, a.id AS from, b.id AS to, properties(r) AS properties
