UNWIND $rows AS row
MATCH (n:Passage {id: row.id, since: row.since})
DETACH DELETE n
