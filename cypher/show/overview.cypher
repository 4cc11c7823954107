// A first look: the passage that most others lead to, and what leads there
MATCH (p:Passage)<-[r:LEADS_TO]-()
WITH p, count(r) AS edges ORDER BY edges DESC LIMIT 1
MATCH path = (p)<-[:LEADS_TO]-(:Passage)
RETURN path LIMIT 20
