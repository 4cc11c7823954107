UNWIND $rows AS row
MATCH (n:Question:Incoming {id: row.id, since: row.since})
DETACH DELETE n
