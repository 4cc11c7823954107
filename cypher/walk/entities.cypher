UNWIND $passages AS row
MATCH (p:Passage {id: row.id, since: row.since})<-[r:MENTIONED_IN|NAMES]-(e:Entity)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN DISTINCT e.id AS id, e.name AS name, e.singleInQuestion AS single, e.lowerInQuestion AS lower, e.df AS df,
  e.bearers AS bearers
