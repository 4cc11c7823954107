UNWIND $ids AS id
MATCH (p:Passage {id: id})-[r:PART_OF]->(d:Document)
WHERE p.since <= $version AND r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN p.id AS passage, d.id AS id, properties(d) AS properties
