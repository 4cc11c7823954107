UNWIND $rows AS row
MATCH (a:Entity {id: row.from, cairnSince: row.fromSince})
MATCH (b:Passage {id: row.to, cairnSince: row.toSince})
MERGE (a)-[r:MENTIONED_IN {id: row.id, cairnSince: row.since}]->(b)
SET r += row.properties
RETURN count(r) AS rows
