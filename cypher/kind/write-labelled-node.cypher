UNWIND $rows AS row
MERGE (n:<key> {id: row.id, cairnSince: row.since})
SET n:<labels>
SET n += row.properties
