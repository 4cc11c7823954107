// The texts of passages, and their locations.
UNWIND $passages AS id
MATCH (p:Passage {id: id})-[r:PART_OF]->(d:Document)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN p.id AS id, p.page AS page, p.line AS line, p.text AS text, p.cairnSpans AS spans, d.uri AS uri
