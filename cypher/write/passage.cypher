UNWIND $rows AS row
MERGE (n:Passage {id: row.id, cairnSince: row.since})
SET n += row.properties
WITH n, row
WHERE row.embedding IS NOT NULL
CALL db.create.setNodeVectorProperty(n, 'embedding', row.embedding)
