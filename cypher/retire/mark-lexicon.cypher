UNWIND $rows AS row
MATCH (n:Lexicon {id: row.id, since: row.since})
SET n.until = row.until
