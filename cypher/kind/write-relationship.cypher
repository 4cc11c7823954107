UNWIND $rows AS row
MATCH (a:<from> {id: row.from, cairnSince: row.fromSince})
MATCH (b:<to> {id: row.to, cairnSince: row.toSince})
MERGE (a)-[r:<label> {cairnSince: row.since}]->(b)
SET r += row.properties
RETURN count(r) AS rows
