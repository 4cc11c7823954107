UNWIND $rows AS row
MATCH ()-[r:NEXT {id: row.id, since: row.since}]->()
SET r.until = row.until
