UNWIND $passages AS id
MATCH (p:Passage) USING INDEX SEEK p:Passage(id, since)
WHERE p.id STARTS WITH id AND p.since <= $version
MATCH (p)<-[r:MENTIONED_IN|NAMES]-(e:Entity)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN DISTINCT e.id AS id, e.name AS name, e.singleInQuestion AS single, e.lowerInQuestion AS lower, e.df AS df,
  e.bearers AS bearers
