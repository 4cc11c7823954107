// Orphans: documents that no other document leads to, the longest first. Reads every document
MATCH (d:Document)
WHERE NOT EXISTS {
  MATCH (d)<-[:PART_OF]-(:Passage)<-[:LEADS_TO]-(:Passage)-[:PART_OF]->(other:Document)
  WHERE other <> d
}
RETURN coalesce(d.title, d.sourceId) AS document, d.passages AS passages, d.sourceId AS source
ORDER BY passages DESC, document
LIMIT 100;
