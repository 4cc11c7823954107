MATCH (l:_Cairn:Publisher {id: 'publisher'})
RETURN l.owner AS owner, l.shown AS shown
