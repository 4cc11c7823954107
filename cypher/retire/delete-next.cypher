UNWIND $rows AS row
MATCH ()-[r:NEXT {id: row.id, cairnSince: row.since}]->()
DELETE r
