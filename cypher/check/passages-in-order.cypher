// Passages of a document follow one another, each once.
MATCH (d:Document)
WHERE d.since <= $version AND (d.until IS NULL OR d.until > $version)
WITH d, COUNT { MATCH (p:Passage)-[r:PART_OF]->(d) WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version) } AS passages,
  COUNT { MATCH (d)<-[:PART_OF]-(a:Passage)-[r:NEXT]->(b:Passage)-[:PART_OF]->(d)
    WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version) AND b.ordinal = a.ordinal + 1 } AS steps
WHERE passages > 0 AND steps <> passages - 1
RETURN count(d) AS offenders, collect(d.id)[..5] AS examples
