// The biggest topics, and what is within them. Reads every community
MATCH (c:Community {level: 0})
WHERE c.entities >= 3
WITH c ORDER BY c.passages DESC LIMIT 12
OPTIONAL MATCH path = (c)<-[:PARENT_COMMUNITY]-(:Community)
RETURN c, path
LIMIT 100;
