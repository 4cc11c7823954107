// A batch of our nodes, in any format, with everything attached to them.
MATCH (n:<nodes>)
WHERE n.cairnSince IS NOT NULL
WITH n LIMIT $limit
WITH collect(n) AS nodes
FOREACH (n IN nodes | DETACH DELETE n)
RETURN size(nodes) AS rows
