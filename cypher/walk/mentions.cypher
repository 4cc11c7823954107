UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id)
WHERE p.id STARTS WITH id AND p.cairnSince <= $version
MATCH (p)<-[r:MENTIONED_IN]-(e:Entity)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN p.id AS passage, collect([e.id, r.cairnCues]) AS mentions
