UNWIND $rows AS row
MERGE (n:Question {id: row.id, cairnSince: row.since})
SET n:Outgoing
SET n += row.properties
WITH n, row
WHERE row.embedding IS NOT NULL
CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)
