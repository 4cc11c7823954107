// A map to start from: the passage that most documents lead to, and twice what leads there, what is best known first. Reads every edge
MATCH (p:Passage)<-[:LEADS_TO]-(from:Passage)
WITH p, count(DISTINCT from.source) AS documents
ORDER BY documents DESC, p.name
LIMIT 1
CALL (p) {
  MATCH (p)<-[:LEADS_TO]-(near:Passage)
  WHERE near.source <> p.source
  WITH DISTINCT near, COUNT { (near)<-[:LEADS_TO]-() } AS known
  ORDER BY known DESC, near.name
  WITH near.source AS source, collect(near)[0] AS near, max(known) AS known
  RETURN near ORDER BY known DESC, near.name LIMIT 5
}
MATCH to = (p)<-[:LEADS_TO]-(near)
OPTIONAL CALL (p, near) {
  MATCH (near)<-[:LEADS_TO]-(far:Passage)
  WHERE NOT far.source IN [p.source, near.source]
  WITH DISTINCT far, COUNT { (far)<-[:LEADS_TO]-() } AS known
  ORDER BY known DESC, far.name
  WITH far.source AS source, collect(far)[0] AS far, max(known) AS known
  ORDER BY known DESC, far.name LIMIT 3
  MATCH on = (near)<-[:LEADS_TO]-(far)
  RETURN on
}
RETURN to, on;
