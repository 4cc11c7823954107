UNWIND $rows AS row
MATCH ()-[r:<type> {id: row.id, cairnSince: row.since}]->()
SET r.cairnUntil = row.until
