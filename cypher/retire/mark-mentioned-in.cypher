UNWIND $rows AS row
MATCH ()-[r:MENTIONED_IN {id: row.id, cairnSince: row.since}]->()
SET r.cairnUntil = row.until
