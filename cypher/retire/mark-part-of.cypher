UNWIND $rows AS row
MATCH ()-[r:PART_OF {id: row.id, since: row.since}]->()
SET r.until = row.until
