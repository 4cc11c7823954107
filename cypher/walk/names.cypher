// The names in these passages, each with where it is mentioned and which of them it names. By name, since what is known
// of it is then read once. A name that no document bears and one of these passages alone mentions leads nowhere: it is
// left out.
UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id)
WHERE p.id STARTS WITH id AND p.cairnSince <= $version
MATCH (p)<-[r:MENTIONED_IN|NAMES]-(e:Entity)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
WITH e, collect([p.id, r]) AS found
WHERE size(found) > 1 OR e.bearers > 0
RETURN e.folded AS folded, e.cairnFlags AS flags, e.documents AS documents, e.bearers AS bearers,
  [place IN found | [place[0], place[1].cairnCues, place[1].kind]] AS places
