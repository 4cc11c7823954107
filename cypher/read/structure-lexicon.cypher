MATCH (l:Lexicon)
WHERE l.since <= $version AND (l.until IS NULL OR l.until > $version)
RETURN l.terms AS terms, l.passages AS passages, l.sentences AS sentences, l.keywords AS keywords
