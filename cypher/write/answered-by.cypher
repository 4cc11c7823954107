UNWIND $rows AS row
MATCH (a:Question {id: row.from, cairnSince: row.fromSince})
MATCH (b:Passage {id: row.to, cairnSince: row.toSince})
MERGE (a)-[r:ANSWERED_BY {id: row.id, cairnSince: row.since}]->(b)
SET r += row.properties
RETURN count(r) AS rows
