// Texts that are names, each with all passages of the documents with that name, if those are few.
UNWIND $ids AS id
MATCH (e:Entity {id: id})
WHERE e.cairnSince <= $version AND (e.cairnUntil IS NULL OR e.cairnUntil > $version)
RETURN e.id AS id, e.folded AS folded, e.cairnFlags AS flags, e.documents AS documents,
  e.bearers AS bearers, CASE WHEN e.bearers > $bearersMax THEN [] ELSE COLLECT {
    MATCH (e)-[r:NAMES]->(b:Passage)-[o:PART_OF]->(d:Document)
    WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
      AND o.cairnSince <= $version AND (o.cairnUntil IS NULL OR o.cairnUntil > $version)
    MATCH (d)<-[s:PART_OF]-(p:Passage)
    WHERE s.cairnSince <= $version AND (s.cairnUntil IS NULL OR s.cairnUntil > $version)
    RETURN {id: p.id, since: p.cairnSince, document: d.id, source: d.sourceId, position: p.position,
      kind: CASE WHEN p = b THEN r.kind END}
  } END AS passages
