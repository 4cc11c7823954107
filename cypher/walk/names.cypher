// The names in these passages, each with the places where it is mentioned and the passages that it names. Grouped by
// name, so that each name's properties are read once. A name that is not a document's, and that only one of these
// passages mentions, leads nowhere and is left out.
UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id)
WHERE p.id STARTS WITH id AND p.cairnSince <= $version
MATCH (p)<-[r:MENTIONED_IN|NAMES]-(e:Entity)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
WITH e, collect([p.id, r]) AS found
WHERE size(found) > 1 OR e.bearers > 0
RETURN e.folded AS folded, e.cairnFlags AS flags, e.documents AS documents, e.bearers AS bearers,
  [place IN found | [place[0], place[1].cairnCues, place[1].kind]] AS places
