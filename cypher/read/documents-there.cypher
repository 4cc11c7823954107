// The documents of the version that is there, in this format or in the one before it.
MATCH (d:Document)
WHERE (d.cairnSince <= $version AND (d.cairnUntil IS NULL OR d.cairnUntil > $version))
  OR (d.cairnSince IS NULL AND d.digest IS NOT NULL AND d.since <= $version AND (d.until IS NULL OR d.until > $version))
RETURN d.id AS id
