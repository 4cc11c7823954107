UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id, since)
WHERE p.id STARTS WITH id AND p.since <= $version
MATCH (p)<-[r:NAMES]-(e:Entity)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN e.id AS entity, p.id AS passage, r.kind AS kind
