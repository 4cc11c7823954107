UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id, cairnSince)
WHERE p.id STARTS WITH id AND p.cairnSince <= $version
MATCH (p)<-[r:MENTIONED_IN|NAMES]-(e:Entity)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN DISTINCT e.id AS id, e.name AS name, e.singleInQuestion AS single, e.lowerInQuestion AS lower, e.df AS df,
  e.bearers AS bearers
