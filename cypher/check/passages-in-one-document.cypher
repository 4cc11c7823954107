// Every passage is part of one document.
MATCH (p:Passage)
WHERE p.cairnSince <= $version AND (p.cairnUntil IS NULL OR p.cairnUntil > $version)
  AND COUNT { MATCH (p)-[r:PART_OF]->(:Document) WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) } <> 1
RETURN count(p) AS offenders, collect(p.id)[..5] AS examples
