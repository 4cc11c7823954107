UNWIND $rows AS row
MATCH (n:Document {id: row.id, since: row.since})
DETACH DELETE n
