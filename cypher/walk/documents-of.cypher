UNWIND $ids AS id
MATCH (p:Passage {id: id})-[r:PART_OF]->(d:Document)
WHERE p.cairnSince <= $version AND r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN p.id AS passage, d.id AS id, properties(d) AS properties
