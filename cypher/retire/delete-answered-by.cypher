UNWIND $rows AS row
MATCH ()-[r:ANSWERED_BY {id: row.id, cairnSince: row.since}]->()
DELETE r
