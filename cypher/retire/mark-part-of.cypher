UNWIND $rows AS row
MATCH ()-[r:PART_OF {id: row.id, cairnSince: row.since}]->()
SET r.cairnUntil = row.until
