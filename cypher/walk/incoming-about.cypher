// In-coming questions of these passages that are about one of the keywords.
UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id, since)
WHERE p.id STARTS WITH id AND p.since <= $version
MATCH (p)<-[r:ANSWERED_BY]-(q:Incoming)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
  AND any(keyword IN q.keywords WHERE keyword IN $keywords)
RETURN q.id AS id, p.id AS passage, q.place AS place, q.sentence AS sentence, q.text AS text, q.keywords AS keywords
