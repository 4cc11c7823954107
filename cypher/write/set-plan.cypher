MATCH (l:Publisher {id: 'cairn'})
SET l.plan = $plan
