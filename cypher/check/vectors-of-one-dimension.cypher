// Vectors have the embedder's dimension.
MATCH (i:_Cairn:Index {id: 'cairn'})
MATCH (n:Passage|Question)
WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version) AND size(n.embedding) <> i.dimension
RETURN count(n) AS offenders, collect(n.id)[..5] AS examples
