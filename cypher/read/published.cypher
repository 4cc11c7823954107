MATCH (i:_Cairn:Index {id: 'cairn'})
RETURN i.published AS published, i.program AS program
