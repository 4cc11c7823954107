// The text of passages and all that a query compares of them.
UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id, since)
WHERE p.id STARTS WITH id AND p.since <= $version AND (p.until IS NULL OR p.until > $version)
RETURN p.id AS id, p.start AS start, p.end AS end, p.section AS section, p.text AS text, p.sentences AS sentences,
  p.vectors AS vectors
