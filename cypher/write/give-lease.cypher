MATCH (l:_Cairn:Publisher {id: 'publisher'})
WHERE l.owner = $owner AND l.epoch = $epoch
SET l.expires = 0
