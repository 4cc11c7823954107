// What leads to a document and why: the question raised, and the one that is answered; other documents first. Set a title first, :param title => 'Heron Bridge'
MATCH (p:Passage {title: $title})<-[:ANSWERED_BY]-(answered)<-[m:MATCHED_WITH]-(raised)<-[:ASKS]-(from:Passage)
WITH p, answered, m, raised, from
ORDER BY from.title = $title, m.similarity DESC, raised.name
LIMIT 6
MATCH path = (from)-[:ASKS]->(raised)-[m]->(answered)-[:ANSWERED_BY]->(p)
RETURN path, m.similarity AS similarity;
