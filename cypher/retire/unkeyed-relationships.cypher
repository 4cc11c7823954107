// Relationships of ours whose key was changed by hand: nothing finds them any more, and readers stumble over them.
MATCH ()-[r:<relationships>]->()
WHERE r.cairnSince IS NOT NULL
  AND NOT (coalesce(r.id =~ '[0-9a-f]{32}', false) AND r.cairnSince IS :: INTEGER NOT NULL)
DELETE r
