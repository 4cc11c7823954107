// What leads to a passage and why: the question raised, and the one that is answered. Set a title first, :param title => 'Heron Bridge'
MATCH path = (:Passage)-[:ASKS]->(:Outgoing)-[:MATCHED_WITH]->(:Incoming)-[:ANSWERED_BY]->(:Passage {title: $title})
RETURN path
LIMIT 50;
