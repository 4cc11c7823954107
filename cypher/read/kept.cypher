MATCH (k:Kept)
WHERE k.cairnSince <= $version AND (k.cairnUntil IS NULL OR k.cairnUntil > $version)
RETURN k.name AS name, k.json AS json
