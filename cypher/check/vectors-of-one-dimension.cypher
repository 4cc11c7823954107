// A vector has the dimension of the embedder.
MATCH (i:Index {id: 'cairn'})
MATCH (n:Passage|Question)
WHERE n.since <= $version AND (n.until IS NULL OR n.until > $version) AND size(n.embedding) <> i.dimension
RETURN count(n) AS offenders, collect(n.id)[..5] AS examples
