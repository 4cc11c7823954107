// What mentions a name (or another name of the same entity). Set it first, :param name => 'Heron Bridge'
MATCH path = (:Entity {name: $name})-[:SAME_AS*0..1]-(:Entity)-[:MENTIONED_IN]->(:Passage)-[:PART_OF]->(:Document)
RETURN path
LIMIT 100;
