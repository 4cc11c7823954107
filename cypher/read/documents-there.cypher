// The documents of the published version, in any format.
MATCH (d:Document)
WHERE d.cairnSince <= $version AND (d.cairnUntil IS NULL OR d.cairnUntil > $version)
RETURN d.id AS id
