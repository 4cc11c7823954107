MATCH (n:Lexicon)
WHERE n.since IS NOT NULL
RETURN n.id AS id, n.since AS since, n.until AS until, n.digest AS digest
