UNWIND $rows AS row
MATCH (n)
WHERE elementId(n) = row
SET n.cairnSince = n.since, n.cairnUntil = n.until, n.cairnChanged = n.changed, n.cairnDigest = n.digest
REMOVE n.since, n.until, n.changed, n.digest
