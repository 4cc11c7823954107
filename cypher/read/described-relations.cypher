MATCH (a:Entity)-[r:RELATES_TO]->(b:Entity)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) AND r.origin IN ['model', 'both']
RETURN a.id AS from, b.id AS to, CASE WHEN r.cairnDescribed THEN r.description END AS description, r.origin AS origin
