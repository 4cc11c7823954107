UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id, since)
WHERE p.id STARTS WITH id AND p.since <= $version
MATCH (p)<-[r:MENTIONED_IN]-(e:Entity)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN e.id AS entity, p.id AS passage, r.sentences AS sentences, r.cues AS cues
