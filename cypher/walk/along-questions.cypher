UNWIND $from AS row
MATCH (p:Passage {id: row.id, cairnSince: row.since})-[r:LEADS_TO|MAY_LEAD_TO]->(n:Passage)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
WITH n, row.score AS score
WITH n, max(score) AS score
MATCH (n)-[o:PART_OF]->(d:Document)
WHERE o.cairnSince <= $version AND (o.cairnUntil IS NULL OR o.cairnUntil > $version)
RETURN n.id AS id, n.cairnSince AS since, d.id AS document, d.sourceId AS source, n.position AS position, score,
  size([keyword IN coalesce(n.keywords, []) WHERE keyword IN $keywords]) AS shared
