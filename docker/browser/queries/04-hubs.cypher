// Hubs: passages that most question edges lead to
MATCH (p:Passage)<-[r:LEADS_TO]-()
RETURN p.title AS document, p.name AS passage, count(r) AS edges
ORDER BY edges DESC, document
LIMIT 25;
