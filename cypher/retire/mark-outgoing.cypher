UNWIND $rows AS row
MATCH (n:Question:Outgoing {id: row.id, cairnSince: row.since})
SET n.cairnUntil = row.until
