// Unanswered questions: asked by a passage, and matched with no question that another answers
MATCH (p:Passage)-[:ASKS]->(q:Outgoing)
WHERE NOT EXISTS { MATCH (p)-[r:LEADS_TO]->() WHERE r.outgoing = q.id }
RETURN p.title AS document, q.text AS question
ORDER BY document, question
LIMIT 100;
