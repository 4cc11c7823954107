// The path to an answer: the passages that it quotes, and the steps that led to them
UNWIND $steps AS step
MATCH (a:Passage {id: step[0]}), (b:Passage {id: step[1]})
OPTIONAL MATCH question = (a)-[:LEADS_TO|MAY_LEAD_TO]->(b)
OPTIONAL MATCH (e:Entity {id: step[2]})
OPTIONAL MATCH leaves = (e)-[:MENTIONED_IN]->(a)
OPTIONAL MATCH arrives = (e)-[:MENTIONED_IN]->(b)
RETURN a, b, e, question, leaves, arrives
UNION ALL
MATCH (a:Passage)
WHERE a.id IN $passages
RETURN a, null AS b, null AS e, null AS question, null AS leaves, null AS arrives
