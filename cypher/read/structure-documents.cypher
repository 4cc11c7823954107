MATCH (d:Document)
WHERE d.cairnSince <= $version AND (d.cairnUntil IS NULL OR d.cairnUntil > $version)
  AND (d.cairnSince > $after OR d.cairnChanged > $after)
RETURN d.id AS id, properties(d) AS properties
