// From a document up, to the topics and summaries of the names that it mentions most. Set a title first, :param title => 'Heron Bridge'
MATCH (p:Passage {title: $title})<-[:MENTIONED_IN]-(e:Entity)
WITH e, count(p) AS passages, collect(p)[0] AS p
ORDER BY passages DESC, e.documents, e.name
LIMIT 3
MATCH from = (p)<-[:MENTIONED_IN]-(e)-[:SAME_AS*0..1]->(named:Entity)
OPTIONAL MATCH topics = (named)-[:IN_COMMUNITY]->(:Community)-[:PARENT_COMMUNITY*0..]->(:Community {level: 0})
OPTIONAL MATCH summaries = (named)-[:SUMMARIZED_BY*1..]->(:Summary)
RETURN from, topics, summaries
LIMIT 40;
