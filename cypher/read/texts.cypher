// The text of passages and all that a query compares of them.
UNWIND $passages AS row
MATCH (p:Passage {id: row.id, since: row.since})
RETURN p.id AS id, p.start AS start, p.end AS end, p.section AS section, p.text AS text, p.sentences AS sentences,
  p.vectors AS vectors
