// Questions that nothing answers: raised by a passage and matched with none. Names that are merely mentioned raise none. Reads every raised question
MATCH (p:Passage)-[:ASKS]->(q:Outgoing)
WHERE NOT EXISTS { (q)-[:MATCHED_WITH]->() } AND NOT q.name CONTAINS ', mentioned with '
RETURN p.title AS document, p.section AS section, q.name AS question
ORDER BY document, question
LIMIT 100;
