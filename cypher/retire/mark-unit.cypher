UNWIND $rows AS row
MATCH (n:Unit {id: row.id, cairnSince: row.since})
SET n.cairnUntil = row.until
