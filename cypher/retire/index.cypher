// Comes first: from here on, readers are told that there is no index.
MATCH (i:_Cairn:Index {id: 'cairn'})
DETACH DELETE i
