UNWIND $rows AS row
MATCH (a:Entity {id: row.from, since: row.fromSince})
MATCH (b:Passage {id: row.to, since: row.toSince})
MERGE (a)-[r:NAMES {id: row.id, since: row.since}]->(b)
SET r = row.properties
RETURN count(r) AS rows
