MATCH (l:Publisher {id: 'cairn'})
WHERE l.owner = $owner AND l.epoch = $epoch
SET l.expires = 0
