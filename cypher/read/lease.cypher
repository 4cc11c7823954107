MATCH (l:Publisher {id: 'cairn'})
RETURN l.owner AS owner, l.shown AS shown
