// Hubs: what most questions lead to. Reads every edge
MATCH (p:Passage)<-[r:LEADS_TO]-()
WITH p, count(r) AS edges
ORDER BY edges DESC
LIMIT 5
MATCH path = (p)<-[:LEADS_TO]-()
RETURN path
LIMIT 100;
