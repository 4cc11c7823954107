MATCH (e:Entity)-[r:MENTIONED_IN]->(p:Passage)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN e.id AS id, p.id AS passage, e.folded AS name, r.cairnCues AS mentions, r.cairnOrigins AS origins
