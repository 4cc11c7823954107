// The biggest topics, and the biggest within each. Reads every community
MATCH (c:Community {level: 0})
WHERE c.entities >= 3
WITH c ORDER BY c.passages DESC LIMIT 6
OPTIONAL CALL (c) {
  MATCH path = (c)<-[:PARENT_COMMUNITY]-(within:Community)
  RETURN path ORDER BY within.passages DESC LIMIT 3
}
RETURN c, path, c.passages AS passages, c.summary AS summary;
