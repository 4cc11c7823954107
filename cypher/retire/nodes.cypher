// A part of all nodes of ours, in whichever format, with what hangs on them.
MATCH (n:<nodes>)
WHERE n.cairnSince IS NOT NULL
WITH n LIMIT $limit
WITH collect(n) AS nodes
FOREACH (n IN nodes | DETACH DELETE n)
RETURN size(nodes) AS rows
