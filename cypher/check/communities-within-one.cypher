// A community is within one of the level above, unless its level is 0.
MATCH (c:Community)
WHERE c.cairnSince <= $version AND (c.cairnUntil IS NULL OR c.cairnUntil > $version)
  AND COUNT { MATCH (c)-[r:PARENT_COMMUNITY]->(:Community {level: c.level - 1})
    WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) } <> CASE c.level WHEN 0 THEN 0 ELSE 1 END
RETURN count(c) AS offenders, collect(c.id)[..5] AS examples
