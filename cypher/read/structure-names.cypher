MATCH (e:Entity)-[r:NAMES]->(p:Passage)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
  AND (r.since > $after OR r.changed > $after)
RETURN e.id AS entity, p.id AS passage, r.kind AS kind
