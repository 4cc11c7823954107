UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id)
WHERE p.id STARTS WITH id AND p.cairnSince <= $version
MATCH (p)<-[r:MENTIONED_IN|NAMES]-(e:Entity)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN DISTINCT e.id AS id, e.folded AS folded, e.cairnFlags AS flags, e.documents AS documents,
  e.bearers AS bearers
