// From a passage up, to its topics and to what summarizes its names. Set it first, :param title => 'Heron Bridge'
MATCH up = (:Passage {title: $title})<-[:MENTIONED_IN]-(:Entity)-[:SAME_AS*0..1]->(:Entity)
  -[:IN_COMMUNITY]->(:Community)-[:PARENT_COMMUNITY*0..]->(:Community)
RETURN up
LIMIT 100
UNION
MATCH up = (:Passage {title: $title})<-[:MENTIONED_IN]-(:Entity)-[:SAME_AS*0..1]->(:Entity)
  -[:SUMMARIZED_BY*1..]->(:Summary)
RETURN up
LIMIT 100;
