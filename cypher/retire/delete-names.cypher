UNWIND $rows AS row
MATCH ()-[r:NAMES {id: row.id, since: row.since}]->()
DELETE r
