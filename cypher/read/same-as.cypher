MATCH (a:Entity)-[r:SAME_AS]->(b:Entity)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN a.id AS name, b.id AS entity, r.reason AS reason, r.sources AS sources, r.cairnDocuments AS documents
