// Orphans: documents that no other document leads to. Reads every document
MATCH (d:Document)
WHERE NOT EXISTS {
  MATCH (d)<-[:PART_OF]-(:Passage)<-[:LEADS_TO]-(:Passage)-[:PART_OF]->(other:Document)
  WHERE other <> d
}
RETURN d.title AS document, d.passages AS passages, d.sourceId AS source
ORDER BY document
LIMIT 100;
