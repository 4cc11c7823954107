// Every question is answered by one passage or asked by one.
MATCH (q:Question)
WHERE q.since <= $version AND (q.until IS NULL OR q.until > $version)
  AND COUNT { MATCH (q)-[r:ANSWERED_BY]->(:Passage) WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version) }
    + COUNT { MATCH (:Passage)-[r:ASKS]->(q) WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version) } <> 1
RETURN count(q) AS offenders, collect(q.id)[..5] AS examples
