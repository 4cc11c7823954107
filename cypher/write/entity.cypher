UNWIND $rows AS row
MERGE (n:Entity {id: row.id, since: row.since})
SET n = row.properties
