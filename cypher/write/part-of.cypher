UNWIND $rows AS row
MATCH (a:Passage {id: row.from, cairnSince: row.fromSince})
MATCH (b:Document {id: row.to, cairnSince: row.toSince})
MERGE (a)-[r:PART_OF {id: row.id, cairnSince: row.since}]->(b)
SET r += row.properties
RETURN count(r) AS rows
