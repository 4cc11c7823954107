UNWIND $rows AS row
MATCH (n:Question:Incoming {id: row.id, cairnSince: row.since})
SET n.cairnUntil = row.until
