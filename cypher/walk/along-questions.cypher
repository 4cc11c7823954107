UNWIND $from AS row
MATCH (p:Passage {id: row.id, since: row.since})-[r:LEADS_TO]->(n:Passage)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
WITH n, row.score AS score
WITH n, max(score) AS score
MATCH (n)-[o:PART_OF]->(d:Document)
WHERE o.since <= $version AND (o.until IS NULL OR o.until > $version)
RETURN n.id AS id, n.since AS since, d.id AS document, d.sourceId AS source, n.ordinal AS ordinal, score,
  size([keyword IN coalesce(n.keywords, []) WHERE keyword IN $keywords]) AS shared
