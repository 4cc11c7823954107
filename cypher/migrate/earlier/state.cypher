// The index of a graph of the format before this one.
MATCH (i:Index {id: 'cairn', format: 1})
WHERE NOT i:_Cairn
RETURN properties(i) AS properties
