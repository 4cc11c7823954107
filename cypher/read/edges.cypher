MATCH (a:Passage)-[r:LEADS_TO|MAY_LEAD_TO]->(b:Passage)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN a.id AS from, b.id AS to, properties(r) AS properties
