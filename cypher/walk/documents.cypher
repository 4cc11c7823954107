UNWIND $passages AS row
MATCH (p:Passage {id: row.id, since: row.since})-[r:PART_OF]->(d:Document)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN DISTINCT d.id AS id, properties(d) AS properties
