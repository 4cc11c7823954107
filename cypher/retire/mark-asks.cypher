UNWIND $rows AS row
MATCH ()-[r:ASKS {id: row.id, cairnSince: row.since}]->()
SET r.cairnUntil = row.until
