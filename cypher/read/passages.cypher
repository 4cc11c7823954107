MATCH (p:Passage)-[r:PART_OF]->(d:Document)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN p.id AS id, d.id AS document, p.position AS position, p.section AS section, p.page AS page, p.line AS line,
  p.column AS column, p.text AS text, p.cairnSpans AS spans
