MATCH (l:Lexicon)
WHERE l.cairnSince <= $version AND (l.cairnUntil IS NULL OR l.cairnUntil > $version)
RETURN l.terms AS terms, l.passages AS passages, l.sentences AS sentences, l.keywords AS keywords
