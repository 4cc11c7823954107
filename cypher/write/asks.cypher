UNWIND $rows AS row
MATCH (a:Passage {id: row.from, since: row.fromSince})
MATCH (b:Question {id: row.to, since: row.toSince})
MERGE (a)-[r:ASKS {id: row.id, since: row.since}]->(b)
SET r = row.properties
RETURN count(r) AS rows
