UNWIND $rows AS row
MATCH (n:Passage {id: row.id, cairnSince: row.since})
SET n.cairnUntil = row.until
