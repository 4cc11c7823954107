UNWIND $ids AS id
MATCH (d:Document {id: id})<-[r:PART_OF]-(p:Passage)
WHERE d.since <= $version AND r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN p.id AS id, p.since AS since, d.id AS document, d.sourceId AS source, p.ordinal AS ordinal
