MATCH (a:<from>)-[r:<label>]->(b:<to>)
WHERE r.cairnSince IS NOT NULL
RETURN a.id AS from, a.cairnSince AS fromSince, b.id AS to, b.cairnSince AS toSince, r.cairnSince AS since,
  r.cairnUntil AS until, r.cairnDigest AS digest
