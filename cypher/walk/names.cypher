UNWIND $passages AS row
MATCH (p:Passage {id: row.id, since: row.since})<-[r:NAMES]-(e:Entity)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN e.id AS entity, p.id AS passage, r.kind AS kind
