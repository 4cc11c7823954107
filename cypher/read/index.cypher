MATCH (i:Index {id: 'cairn'})
RETURN properties(i) AS properties
