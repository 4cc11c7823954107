UNWIND $rows AS row
MERGE (n:Document {id: row.id, cairnSince: row.since})
SET n += row.properties
