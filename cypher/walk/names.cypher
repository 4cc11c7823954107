// The names in these passages, each with where it is mentioned and which of them it names. By name, since what is known
// of it is then read once.
UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id)
WHERE p.id STARTS WITH id AND p.cairnSince <= $version
MATCH (p)<-[r:MENTIONED_IN|NAMES]-(e:Entity)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
WITH e, collect([p.id, r.cairnCues, r.kind]) AS places
RETURN e.folded AS folded, e.cairnFlags AS flags, e.documents AS documents, e.bearers AS bearers, places
