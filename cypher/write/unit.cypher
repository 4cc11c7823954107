UNWIND $rows AS row
MERGE (n:Unit {id: row.id, cairnSince: row.since})
SET n += row.properties
