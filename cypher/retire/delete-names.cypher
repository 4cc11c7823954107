UNWIND $rows AS row
MATCH ()-[r:NAMES {id: row.id, cairnSince: row.since}]->()
DELETE r
