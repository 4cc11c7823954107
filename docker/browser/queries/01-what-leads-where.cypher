// What leads where: passages and the questions that lead from one to another
MATCH path = (:Passage)-[:LEADS_TO]->(:Passage)
RETURN path
LIMIT 100;
