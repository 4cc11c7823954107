UNWIND $rows AS row
MERGE (n:Entity {id: row.id, cairnSince: row.since})
SET n += row.properties
