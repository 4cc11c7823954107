MATCH (a:Entity)-[r:RELATES_TO]->(b:Entity)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN a.id AS from, b.id AS to, r.weight AS weight, r.passage AS passage, r.cairnSentence AS sentence
