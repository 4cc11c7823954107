MATCH (e:Entity)
WHERE e.since <= $version AND (e.until IS NULL OR e.until > $version)
  AND (e.since > $after OR e.changed > $after)
RETURN e.id AS id, e.name AS name, e.singleInQuestion AS single, e.lowerInQuestion AS lower
