UNWIND $rows AS row
MATCH (n:Entity {id: row.id, since: row.since})
SET n.until = row.until
