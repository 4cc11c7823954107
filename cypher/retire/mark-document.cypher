UNWIND $rows AS row
MATCH (n:Document {id: row.id, cairnSince: row.since})
SET n.cairnUntil = row.until
