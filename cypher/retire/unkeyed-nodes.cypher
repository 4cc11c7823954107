// Nodes of ours whose key was changed by hand: nothing finds them any more, and readers stumble over them.
MATCH (n:<nodes>)
WHERE n.cairnSince IS NOT NULL
  AND NOT (coalesce(n.id =~ '[0-9a-f]{32}', false) AND n.cairnSince IS :: INTEGER NOT NULL)
DETACH DELETE n
