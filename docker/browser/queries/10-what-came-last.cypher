// What came with the last publish: passages that are new or have a new text. Reads every passage
MATCH (i:Index) WITH i.version AS version
MATCH (p:Passage)-[:PART_OF]->(d:Document)
WHERE p.cairnSince = version
RETURN d.title AS document, p.position AS position, p.section AS section, left(p.text, 80) AS begins
ORDER BY document, position
LIMIT 100;
