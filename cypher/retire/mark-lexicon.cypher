UNWIND $rows AS row
MATCH (n:Lexicon {id: row.id, cairnSince: row.since})
SET n.cairnUntil = row.until
