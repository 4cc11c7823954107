MATCH (i:_Cairn:Index {id: 'cairn'})
RETURN properties(i) AS properties
