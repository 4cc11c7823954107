UNWIND $rows AS row
MATCH (a:Question {id: row.from, since: row.fromSince})
MATCH (b:Passage {id: row.to, since: row.toSince})
MERGE (a)-[r:ANSWERED_BY {id: row.id, since: row.since}]->(b)
SET r = row.properties
RETURN count(r) AS rows
