// Question edges from and to these passages.
UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id, cairnSince)
WHERE p.id STARTS WITH id AND p.cairnSince <= $version
MATCH (p)-[r:LEADS_TO]->(to:Passage)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) AND left(to.id, size(id)) IN $passages
RETURN p.id AS passage, collect([to.id, r.incoming, r.outgoing, r.similarity]) AS edges
