UNWIND $rows AS row
MATCH (n:Entity {id: row.id, since: row.since})
DETACH DELETE n
