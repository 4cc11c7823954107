UNWIND $rows AS row
MATCH (n:Unit {id: row.id, since: row.since})
SET n.until = row.until
