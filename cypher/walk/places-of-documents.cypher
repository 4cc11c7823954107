UNWIND $ids AS id
MATCH (d:Document {id: id})<-[r:PART_OF]-(p:Passage)
WHERE d.cairnSince <= $version AND r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN p.id AS id, p.cairnSince AS since, d.id AS document, d.sourceId AS source, p.position AS position
