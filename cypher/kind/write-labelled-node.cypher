UNWIND $rows AS row
MERGE (n:<key> {id: row.id, cairnSince: row.since})
SET n:<label>
SET n += row.properties
