// A map to start from: documents, and the questions that lead from one to another
MATCH path = (:Document)<-[:PART_OF]-(:Passage)-[:LEADS_TO]->(:Passage)-[:PART_OF]->(:Document)
RETURN path
LIMIT 40;
