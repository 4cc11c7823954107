UNWIND $rows AS row
MATCH (n:Question:Incoming {id: row.id, since: row.since})
SET n.until = row.until
