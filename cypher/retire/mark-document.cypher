UNWIND $rows AS row
MATCH (n:Document {id: row.id, since: row.since})
SET n.until = row.until
