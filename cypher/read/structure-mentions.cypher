MATCH (e:Entity)-[r:MENTIONED_IN]->(p:Passage)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
  AND (r.since > $after OR r.changed > $after)
RETURN e.id AS entity, p.id AS passage, r.sentences AS sentences, r.cues AS cues
