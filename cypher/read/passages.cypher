MATCH (p:Passage)-[r:PART_OF]->(d:Document)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN p.id AS id, d.id AS document, p {.ordinal, .start, .end, .section, .page, .line, .text, .sentences} AS properties
