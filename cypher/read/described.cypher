MATCH (e:Entity)
WHERE e.cairnSince <= $version AND (e.cairnUntil IS NULL OR e.cairnUntil > $version) AND e.origin IN ['model', 'both']
RETURN e.id AS id, e.folded AS name, CASE e.typeOrigin WHEN 'model' THEN e.type END AS type,
  e.description AS description, e.origin AS origin
