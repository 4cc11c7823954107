MATCH (p:Passage)-[r:PART_OF]->(:Document)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN p.id AS id, p.vectors AS vectors
