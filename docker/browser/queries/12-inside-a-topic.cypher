// Inside a topic: the names that are mentioned most, and how they are related. Set one of its names first, :param name => 'Heron Bridge'
MATCH (:Entity {name: $name})-[:SAME_AS*0..1]->(:Entity)-[:IN_COMMUNITY]->(c:Community)<-[:IN_COMMUNITY]-(e:Entity)
WITH DISTINCT c, e ORDER BY e.name = $name DESC, e.mentions DESC, e.name LIMIT 12
WITH c, collect(e) AS names
UNWIND names AS e
MATCH member = (c)<-[:IN_COMMUNITY]-(e)
OPTIONAL MATCH related = (e)-[:RELATES_TO]->(other:Entity) WHERE other IN names
RETURN member, related;
