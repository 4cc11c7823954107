// The documents with a title, in any case.
MATCH (n:Document)
WHERE toLower(n.title) = toLower($name) AND n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version)
RETURN 'document' AS kind, n.id AS id, n.name AS name, n.title AS title, n.sourceId AS source
ORDER BY source
