// Documents and coverage: how many passages and questions each has, and how many edges come and go
MATCH (d:Document)<-[:PART_OF]-(p:Passage)
WITH d, collect(p) AS passages
RETURN d.name AS document, size(passages) AS passages,
  reduce(n = 0, p IN passages | n + COUNT { (p)<-[:ANSWERED_BY]-() }) AS answers,
  reduce(n = 0, p IN passages | n + COUNT { (p)-[:ASKS]->() }) AS asks,
  reduce(n = 0, p IN passages | n + COUNT { (p)-[:LEADS_TO]->() }) AS leaves,
  reduce(n = 0, p IN passages | n + COUNT { (p)<-[:LEADS_TO]-() }) AS arrives
ORDER BY arrives DESC, document;
