MATCH (i:_Cairn:Index {id: 'cairn'})
SET i.state = $state
