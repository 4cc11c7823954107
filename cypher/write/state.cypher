MATCH (i:Index {id: 'cairn'})
SET i.state = $state
