UNWIND $rows AS row
MATCH (n:Lexicon {id: row.id, since: row.since})
DETACH DELETE n
