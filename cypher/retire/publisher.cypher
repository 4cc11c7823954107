// Last: while it is there, whoever comes next knows that what is left is ours.
MATCH (l:_Cairn:Publisher {id: 'publisher'})
DETACH DELETE l
