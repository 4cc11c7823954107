// An entity that documents mention has a mention in a passage.
MATCH (e:Entity)
WHERE e.since <= $version AND (e.until IS NULL OR e.until > $version) AND e.df > 0
  AND NOT EXISTS { MATCH (e)-[r:MENTIONED_IN]->(:Passage) WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version) }
RETURN count(e) AS offenders, collect(e.id)[..5] AS examples
