// The way of an answer, by titles (`cairn ask --cypher` prints it by ids). Set them first, :param titles => ['Edda Varnholt', 'Joachim Varnholt', 'Cornelius Pellam']
UNWIND range(0, size($titles) - 2) AS at
MATCH (a:Passage {title: $titles[at]}), (b:Passage {title: $titles[at + 1]})
OPTIONAL MATCH question = (a)-[:LEADS_TO]->(b)
OPTIONAL MATCH name = (a)<-[:MENTIONED_IN]-(:Entity)-[:NAMES]->(b)
RETURN a, b, question, name;
