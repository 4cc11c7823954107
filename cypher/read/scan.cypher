// A page of the passages by their keys: the location of each, and its text if that contains what every match contains.
MATCH (p:Passage) USING INDEX SEEK p:Passage(id)
WHERE p.id > $after AND p.cairnSince <= $version AND (p.cairnUntil IS NULL OR p.cairnUntil > $version)
WITH p ORDER BY p.id LIMIT $limit
MATCH (p)-[r:PART_OF]->(d:Document)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN p.id AS id, p.cairnSince AS since, d.id AS document, d.sourceId AS source, p.position AS position,
  CASE WHEN p.text CONTAINS $literal THEN p.text END AS text
ORDER BY id
