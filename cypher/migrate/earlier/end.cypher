// The last write: without these traces the graph is of this format.
OPTIONAL MATCH (i:_Cairn:Index {id: 'cairn', state: 'converting'})
SET i.state = 'clearing'
WITH count(i) AS indexes
OPTIONAL MATCH (m:Migration)
WHERE NOT m:_Cairn AND m.id IN ['0001-constraints', '0002-full-text', '0003-vectors'] AND m.checksum IS NOT NULL
DETACH DELETE m
