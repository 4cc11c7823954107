UNWIND $rows AS row
MATCH (n:Question:Outgoing {id: row.id, since: row.since})
DETACH DELETE n
