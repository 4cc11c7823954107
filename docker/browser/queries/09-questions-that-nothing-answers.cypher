// Questions that nothing answers: raised by a passage and matched with none; those that a model wrote first, names that are merely mentioned last or not at all. Reads every raised question
MATCH (p:Passage)-[:ASKS]->(q:Outgoing)
WHERE NOT EXISTS { (q)-[:MATCHED_WITH]->() } AND NOT q.name CONTAINS ', mentioned with '
RETURN q.name AS question, p.title AS document, p.section AS section
ORDER BY q.origin = 'rule', q.name CONTAINS ', mentioned in ', document, question
LIMIT 100;
