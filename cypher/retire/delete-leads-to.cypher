UNWIND $rows AS row
MATCH ()-[r:LEADS_TO {id: row.id, cairnSince: row.since}]->()
DELETE r
