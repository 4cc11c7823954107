MATCH (m:Entity|Summary)-[r:SUMMARIZED_BY]->(s:Summary)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN m.id AS member, s.id AS summary, r.weight AS weight
