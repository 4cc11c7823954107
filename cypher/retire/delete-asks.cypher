UNWIND $rows AS row
MATCH ()-[r:ASKS {id: row.id, since: row.since}]->()
DELETE r
