// One document from inside: its passages in order, what they answer and what they raise. Set a title first, :param title => 'Heron Bridge'
MATCH (d:Document {title: $title})<-[part:PART_OF]-(p:Passage)
OPTIONAL MATCH next = (p)-[:NEXT]->(:Passage)
OPTIONAL MATCH questions = (p)-[:ASKS|ANSWERED_BY]-(:Question)
RETURN d, part, p, next, questions
LIMIT 200;
