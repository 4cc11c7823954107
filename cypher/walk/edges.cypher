// Question edges from and to these passages, each with the answered question and the one that is asked.
UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id)
WHERE p.id STARTS WITH id AND p.cairnSince <= $version
MATCH (p)-[r:LEADS_TO|MAY_LEAD_TO]->(to:Passage)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
  AND left(to.id, size(id)) IN $passages
OPTIONAL MATCH (asked:Outgoing {id: r.cairnOutgoing})
WHERE asked.cairnSince <= $version AND (asked.cairnUntil IS NULL OR asked.cairnUntil > $version)
OPTIONAL MATCH (answered:Incoming {id: r.cairnIncoming})
WHERE answered.cairnSince <= $version AND (answered.cairnUntil IS NULL OR answered.cairnUntil > $version)
RETURN p.id AS passage, collect([to.id, r.similarity,
  [answered.id, answered.cairnPlace, answered.name, answered.keywords],
  [asked.id, asked.cairnPlace, asked.name, asked.keywords]]) AS edges
