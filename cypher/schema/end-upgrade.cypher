// A batch of elements that no format has any more, once the version of the earlier format is gone.
MATCH (n:Unit|Lexicon|Change|Migration)
WHERE (n.cairnSince IS NOT NULL AND NOT n:_Cairn) OR (n:_Cairn AND n.cairnSince IS NULL)
WITH n LIMIT $limit
WITH collect(n) AS nodes
FOREACH (n IN nodes | DETACH DELETE n)
RETURN size(nodes) AS rows
