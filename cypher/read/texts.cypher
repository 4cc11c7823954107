// The text of passages, and everything about them that a query compares.
UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id)
WHERE p.id STARTS WITH id AND p.cairnSince <= $version AND (p.cairnUntil IS NULL OR p.cairnUntil > $version)
RETURN p.id AS id, p.section AS section, p.page AS page, p.line AS line, p.column AS column,
  p.text AS text, p.cairnSpans AS spans, p.cairnVectors AS vectors
