UNWIND $ids AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id)
WHERE p.id STARTS WITH id AND p.cairnSince <= $version
MATCH (p)-[r:PART_OF]->(d:Document)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN p.id AS id, p.cairnSince AS since, d.id AS document, d.sourceId AS source, p.position AS position
