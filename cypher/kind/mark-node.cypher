UNWIND $rows AS row
MATCH (n:<labels> {id: row.id, cairnSince: row.since})
SET n.cairnUntil = row.until
