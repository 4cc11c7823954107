// Every passage is part of one document.
MATCH (p:Passage)
WHERE p.since <= $version AND (p.until IS NULL OR p.until > $version)
  AND COUNT { MATCH (p)-[r:PART_OF]->(:Document) WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version) } <> 1
RETURN count(p) AS offenders, collect(p.id)[..5] AS examples
