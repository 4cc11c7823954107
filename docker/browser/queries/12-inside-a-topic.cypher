// Inside a topic: names and how they are related. Set one first, :param name => 'Heron Bridge'
MATCH (:Entity {name: $name})-[:SAME_AS*0..1]->(:Entity)-[:IN_COMMUNITY]->(c:Community)
MATCH member = (c)<-[:IN_COMMUNITY]-(e:Entity)
OPTIONAL MATCH related = (e)-[:RELATES_TO]->(:Entity)-[:IN_COMMUNITY]->(c)
RETURN member, related
LIMIT 200;
