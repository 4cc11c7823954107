// Question edges from and to these passages.
UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id, since)
WHERE p.id STARTS WITH id AND p.since <= $version
MATCH (p)-[r:LEADS_TO]->(to:Passage)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version) AND left(to.id, size(id)) IN $passages
RETURN p.id AS passage, collect([to.id, r.incoming, r.outgoing, r.similarity]) AS edges
