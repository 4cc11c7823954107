MATCH (p:Passage)-[r:PART_OF]->(d:Document)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN p.id AS id, p.cairnSince AS since, d.id AS document, p.position AS position, p.cairnSpans AS spans
