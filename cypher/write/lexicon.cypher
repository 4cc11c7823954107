UNWIND $rows AS row
MERGE (n:Lexicon {id: row.id, since: row.since})
SET n = row.properties
