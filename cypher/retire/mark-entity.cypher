UNWIND $rows AS row
MATCH (n:Entity {id: row.id, cairnSince: row.since})
SET n.cairnUntil = row.until
