UNWIND $rows AS row
MATCH ()-[r]->()
WHERE elementId(r) = row
SET r.cairnSince = r.since, r.cairnUntil = r.until, r.cairnChanged = r.changed, r.cairnDigest = r.digest
REMOVE r.since, r.until, r.changed, r.digest
