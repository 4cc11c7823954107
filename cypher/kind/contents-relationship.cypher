MATCH ()-[r:<label>]->()
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN r.id AS id, r.cairnDigest AS digest, properties(r) AS properties
