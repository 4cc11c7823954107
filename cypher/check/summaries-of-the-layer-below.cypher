// A summary entity summarizes something, and only elements of the layer below it.
MATCH (s:Summary)
WHERE s.cairnSince <= $version AND (s.cairnUntil IS NULL OR s.cairnUntil > $version)
OPTIONAL MATCH (m:Entity|Summary)-[r:SUMMARIZED_BY]->(s)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
WITH s, collect(CASE WHEN m:Summary THEN m.layer WHEN m:Entity THEN 0 END) AS layers
WHERE layers = [] OR any(layer IN layers WHERE layer <> s.layer - 1)
RETURN count(s) AS offenders, collect(s.id)[..5] AS examples
