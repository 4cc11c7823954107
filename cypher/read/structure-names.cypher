MATCH (e:Entity)-[r:NAMES]->(p:Passage)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN e.id AS entity, p.id AS passage, r.kind AS kind
