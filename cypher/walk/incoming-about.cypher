// In-coming questions of these passages that are about one of the keywords.
UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id)
WHERE p.id STARTS WITH id AND p.cairnSince <= $version
MATCH (p)<-[r:ANSWERED_BY]-(q:Incoming)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
  AND any(keyword IN q.keywords WHERE keyword IN $keywords)
RETURN p.id AS passage, collect([q.id, q.cairnPlace, q.name, q.keywords]) AS questions
