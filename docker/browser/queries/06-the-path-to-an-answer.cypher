// The path to an answer, by titles: the best question and names from each to the next (`cairn ask --cypher` prints it by ids). Set them first, :param titles => ['Edda Varnholt', 'Joachim Varnholt', 'Cornelius Pellam']
UNWIND range(0, size($titles) - 2) AS at
CALL (at) {
  MATCH question = (a:Passage {title: $titles[at]})-[r:LEADS_TO|MAY_LEAD_TO]->(b:Passage {title: $titles[at + 1]})
  RETURN question AS step ORDER BY r.similarity DESC, r.question LIMIT 1
UNION
  MATCH name = (a:Passage {title: $titles[at]})<-[:MENTIONED_IN]-(e:Entity)-[:NAMES]->(b:Passage {title: $titles[at + 1]})
  RETURN name AS step ORDER BY e.documents, e.name LIMIT 2
}
RETURN step;
