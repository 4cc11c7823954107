// Which texts are names, and all passages of the documents that bear each, where few do.
UNWIND $ids AS id
MATCH (e:Entity {id: id})
WHERE e.since <= $version AND (e.until IS NULL OR e.until > $version)
RETURN e.id AS id, e.name AS name, e.singleInQuestion AS single, e.lowerInQuestion AS lower, e.df AS df,
  e.bearers AS bearers, CASE WHEN e.bearers > $bearersMax THEN [] ELSE COLLECT {
    MATCH (e)-[r:NAMES]->(b:Passage)-[o:PART_OF]->(d:Document)
    WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
      AND o.since <= $version AND (o.until IS NULL OR o.until > $version)
    MATCH (d)<-[s:PART_OF]-(p:Passage)
    WHERE s.since <= $version AND (s.until IS NULL OR s.until > $version)
    RETURN {id: p.id, since: p.since, document: d.id, source: d.sourceId, ordinal: p.ordinal,
      kind: CASE WHEN p = b THEN r.kind END}
  } END AS passages
