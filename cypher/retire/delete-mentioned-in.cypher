UNWIND $rows AS row
MATCH ()-[r:MENTIONED_IN {id: row.id, since: row.since}]->()
DELETE r
