MATCH ()-[r:NAMES]->()
WHERE r.since IS NOT NULL
RETURN r.id AS id, r.since AS since, r.until AS until, r.digest AS digest
