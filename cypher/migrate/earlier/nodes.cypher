// Nodes that the program before this one wrote: by all that it gave each.
MATCH (n:Document|Unit|Passage|Question|Entity|Lexicon)
WHERE n.cairnSince IS NULL AND n.since IS NOT NULL AND n.digest IS NOT NULL AND n.id =~ '[0-9a-f]{32}'
RETURN elementId(n) AS element
LIMIT $limit
