// What mentions a name (or another name of the same entity): a passage of each document, those that mention it most first. Set it first, :param name => 'Heron Bridge'
MATCH (named:Entity {name: $name})-[:SAME_AS*0..1]-(e:Entity)-[:MENTIONED_IN]->(p:Passage)
WITH named, p.source AS source, count(DISTINCT p) AS passages, collect(p)[0] AS p
ORDER BY passages DESC, source
LIMIT 12
MATCH path = (named)-[:SAME_AS*0..1]-(:Entity)-[:MENTIONED_IN]->(p)
RETURN path, p.title AS document, passages;
