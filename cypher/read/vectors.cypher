MATCH (p:Passage)-[r:PART_OF]->(:Document)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN p.id AS id, p.cairnVectors AS vectors
