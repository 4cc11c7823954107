// Nothing of an earlier or a later version is left after publishing.
MATCH (i:_Cairn:Index {id: 'cairn', state: 'whole'})
MATCH (n:<nodes>)
WHERE n.cairnUntil IS NOT NULL OR n.cairnSince > i.version
RETURN count(n) AS offenders, collect(n.id)[..5] AS examples
