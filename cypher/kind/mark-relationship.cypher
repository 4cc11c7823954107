UNWIND $rows AS row
MATCH ()-[r:<label> {id: row.id, cairnSince: row.since}]->()
SET r.cairnUntil = row.until
