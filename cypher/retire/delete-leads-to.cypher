UNWIND $rows AS row
MATCH ()-[r:LEADS_TO {id: row.id, since: row.since}]->()
DELETE r
