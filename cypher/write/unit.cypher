UNWIND $rows AS row
MERGE (n:Unit {id: row.id, since: row.since})
SET n = row.properties
