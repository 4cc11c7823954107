// An entity that occurs in documents is mentioned in a passage.
MATCH (e:Entity)
WHERE e.cairnSince <= $version AND (e.cairnUntil IS NULL OR e.cairnUntil > $version) AND e.documents > 0
  AND NOT EXISTS { MATCH (e)-[r:MENTIONED_IN]->(:Passage) WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) }
RETURN count(e) AS offenders, collect(e.id)[..5] AS examples
