UNWIND $rows AS row
MATCH (a:Passage {id: row.from, cairnSince: row.fromSince})
MATCH (b:Question {id: row.to, cairnSince: row.toSince})
MERGE (a)-[r:ASKS {id: row.id, cairnSince: row.since}]->(b)
SET r += row.properties
RETURN count(r) AS rows
