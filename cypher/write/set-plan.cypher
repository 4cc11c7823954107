MATCH (l:_Cairn:Publisher {id: 'publisher'})
SET l.plan = $plan
