UNWIND $rows AS row
MERGE (n:Document {id: row.id, since: row.since})
SET n = row.properties
