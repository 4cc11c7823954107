MATCH (c:Community)
WHERE c.cairnSince <= $version AND (c.cairnUntil IS NULL OR c.cairnUntil > $version)
RETURN c.id AS id, properties(c) AS properties, COLLECT {
  MATCH (c)-[r:PARENT_COMMUNITY]->(p:Community)
  WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
  RETURN p.id
} AS parents
