UNWIND $ids AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id, since)
WHERE p.id STARTS WITH id AND p.since <= $version
MATCH (p)-[r:PART_OF]->(d:Document)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN p.id AS id, p.since AS since, d.id AS document, d.sourceId AS source, p.ordinal AS ordinal
