// Nothing of an earlier or a later version is left once publishing has ended.
MATCH (i:Index {id: 'cairn', state: 'whole'})
MATCH (n:Document|Unit|Passage|Question|Entity|Lexicon)
WHERE n.until IS NOT NULL OR n.since > i.version
RETURN count(n) AS offenders, collect(n.id)[..5] AS examples
