MATCH (e:Entity)-[r:MENTIONED_IN]->(p:Passage)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN e.id AS id, p.id AS passage, e.name AS name, r.sentences AS sentences
