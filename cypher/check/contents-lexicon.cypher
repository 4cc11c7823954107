MATCH (n:Lexicon)
WHERE n.since <= $version AND (n.until IS NULL OR n.until > $version)
RETURN n.id AS id, n.digest AS digest, properties(n) AS properties
