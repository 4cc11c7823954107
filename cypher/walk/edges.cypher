// Question edges from and to these passages.
UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id)
WHERE p.id STARTS WITH id AND p.cairnSince <= $version
MATCH (p)-[r:LEADS_TO|MAY_LEAD_TO]->(to:Passage)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) AND left(to.id, size(id)) IN $passages
RETURN p.id AS passage, collect([to.id, r.cairnIncoming, r.cairnOutgoing, r.similarity]) AS edges
