// Every question is answered by one passage or asked by one.
MATCH (q:Question)
WHERE q.cairnSince <= $version AND (q.cairnUntil IS NULL OR q.cairnUntil > $version)
  AND COUNT { MATCH (q)-[r:ANSWERED_BY]->(:Passage) WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) }
    + COUNT { MATCH (:Passage)-[r:ASKS]->(q) WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) } <> 1
RETURN count(q) AS offenders, collect(q.id)[..5] AS examples
