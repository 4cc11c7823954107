UNWIND $rows AS row
MATCH (n:<labels> {id: row.id, cairnSince: row.since})
OPTIONAL MATCH (n)-[r]-()
WHERE r.cairnSince IS NULL
WITH collect(DISTINCT n) AS nodes, count(DISTINCT r) AS rows
FOREACH (n IN nodes | DETACH DELETE n)
RETURN rows
