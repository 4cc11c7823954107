UNWIND $rows AS row
MATCH (a:<from> {id: row.from, cairnSince: row.fromSince})
MATCH (b:<to> {id: row.to, cairnSince: row.toSince})
MATCH (a)-[r:<label> {cairnSince: row.since}]->(b)
DELETE r
