UNWIND $rows AS row
MERGE (n:Lexicon {id: row.id, cairnSince: row.since})
SET n += row.properties
