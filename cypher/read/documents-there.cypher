// The documents of the version that is there, in whichever format.
MATCH (d:Document)
WHERE d.cairnSince <= $version AND (d.cairnUntil IS NULL OR d.cairnUntil > $version)
RETURN d.id AS id
