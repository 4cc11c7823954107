// Every document has the marker of its unit.
MATCH (d:Document)
WHERE d.since <= $version AND (d.until IS NULL OR d.until > $version)
  AND COUNT { MATCH (u:Unit {id: d.id}) WHERE u.since <= $version AND (u.until IS NULL OR u.until > $version) } <> 1
RETURN count(d) AS offenders, collect(d.id)[..5] AS examples
