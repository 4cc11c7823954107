UNWIND $rows AS row
MATCH ()-[r:ANSWERED_BY {id: row.id, since: row.since}]->()
DELETE r
