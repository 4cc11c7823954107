MATCH ()-[r:NAMES]->()
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN r.id AS id, r.digest AS digest, properties(r) AS properties
