UNWIND $rows AS row
MATCH (n:Unit {id: row.id, since: row.since})
DETACH DELETE n
