// Hubs: passages that most documents lead to, and what leads there most surely, a passage of each document. Reads every edge
MATCH (p:Passage)<-[:LEADS_TO]-(from:Passage)
WITH p, count(DISTINCT from.source) AS documents
ORDER BY documents DESC, p.name
LIMIT 4
CALL (p) {
  MATCH (p)<-[r:LEADS_TO]-(from:Passage)
  WITH r, from ORDER BY r.similarity DESC, from.name
  WITH from.source AS source, collect(r)[0] AS best
  RETURN best ORDER BY best.similarity DESC, source LIMIT 4
}
MATCH path = (p)<-[best]-()
RETURN path, p.name AS hub, documents;
