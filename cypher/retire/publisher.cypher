// Comes last: while it exists, whoever comes next knows that the rest is ours.
MATCH (l:_Cairn:Publisher {id: 'publisher'})
DETACH DELETE l
