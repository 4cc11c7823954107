MATCH (e:Entity)-[r:IN_COMMUNITY]->(c:Community)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN e.id AS entity, c.id AS community
