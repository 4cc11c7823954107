MATCH (e:Entity)
WHERE e.cairnSince <= $version AND (e.cairnUntil IS NULL OR e.cairnUntil > $version)
  AND (e.cairnSince > $after OR e.cairnChanged > $after)
RETURN e.id AS id, e.name AS name, e.singleInQuestion AS single, e.lowerInQuestion AS lower
