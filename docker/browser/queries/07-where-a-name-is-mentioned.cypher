// Where a name is mentioned. Set it first, in lower case, :param name => 'heron bridge'
MATCH path = (:Entity {name: $name})-[:MENTIONED_IN]->(:Passage)-[:PART_OF]->(:Document)
RETURN path
LIMIT 100;
