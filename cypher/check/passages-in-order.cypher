// Passages of a document are in order, each once.
MATCH (d:Document)
WHERE d.cairnSince <= $version AND (d.cairnUntil IS NULL OR d.cairnUntil > $version)
WITH d, COUNT { MATCH (p:Passage)-[r:PART_OF]->(d) WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) } AS passages,
  COUNT { MATCH (d)<-[x:PART_OF]-(a:Passage)-[r:NEXT]->(b:Passage)-[y:PART_OF]->(d)
    WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
      AND x.cairnSince <= $version AND (x.cairnUntil IS NULL OR x.cairnUntil > $version)
      AND y.cairnSince <= $version AND (y.cairnUntil IS NULL OR y.cairnUntil > $version)
      AND b.position = a.position + 1 } AS steps
WHERE passages > 0 AND steps <> passages - 1
RETURN count(d) AS offenders, collect(d.id)[..5] AS examples
