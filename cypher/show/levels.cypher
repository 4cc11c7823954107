UNION ALL
// What `layers` found: the paths that join key entities, and the communities that these are in
UNWIND $bridges AS step
MATCH (a:Entity {id: step[0]}), (b:Entity {id: step[1]})
MATCH question = (a)-[:RELATES_TO]-(b)
RETURN a, b, null AS e, question, null AS leaves, null AS arrives
UNION ALL
UNWIND $communities AS found
MATCH (a:Community {id: found[0]})
OPTIONAL MATCH (b:Entity) WHERE b.id IN found[1..]
OPTIONAL MATCH question = (b)-[:IN_COMMUNITY]->(a)
RETURN a, b, null AS e, question, null AS leaves, null AS arrives
