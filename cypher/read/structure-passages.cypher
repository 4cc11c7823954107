MATCH (p:Passage)-[r:PART_OF]->(d:Document)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
  AND (r.cairnSince > $after OR r.cairnChanged > $after OR p.cairnChanged > $after)
RETURN p.id AS id, p.cairnSince AS since, d.id AS document, p.ordinal AS ordinal, p.length AS length,
  p.sentenceLengths AS sentences
