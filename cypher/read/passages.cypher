MATCH (p:Passage)-[r:PART_OF]->(d:Document)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN p.id AS id, d.id AS document, p {.ordinal, .start, .end, .section, .text, .sentences} AS properties
