MATCH (a:<from>)-[r:<label>]->(b:<to>)
WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
RETURN a.id AS from, b.id AS to, r.cairnDigest AS digest, properties(r) AS properties
