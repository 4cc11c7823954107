// Every document has the marker of its unit.
MATCH (d:Document)
WHERE d.cairnSince <= $version AND (d.cairnUntil IS NULL OR d.cairnUntil > $version)
  AND COUNT { MATCH (u:Unit {id: d.id}) WHERE u.cairnSince <= $version AND (u.cairnUntil IS NULL OR u.cairnUntil > $version) } <> 1
RETURN count(d) AS offenders, collect(d.id)[..5] AS examples
