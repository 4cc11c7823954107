MATCH ()-[r:<label>]->()
WHERE r.cairnSince IS NOT NULL
RETURN r.id AS id, r.cairnSince AS since, r.cairnUntil AS until, r.cairnDigest AS digest
