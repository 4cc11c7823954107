UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id, since)
WHERE p.id STARTS WITH id AND p.since <= $version
MATCH (p)<-[r:MENTIONED_IN]-(e:Entity)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN p.id AS passage, collect([e.id, r.sentences, r.cues]) AS mentions
