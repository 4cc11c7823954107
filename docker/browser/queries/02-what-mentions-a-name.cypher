// What mentions a name. Set it first, :param name => 'Heron Bridge'
MATCH path = (:Entity {name: $name})-[:MENTIONED_IN]->(:Passage)-[:PART_OF]->(:Document)
RETURN path
LIMIT 100;
