// What came with the last publish: documents with passages that are new or have a new text, how many, and how the first begins. Reads every passage
MATCH (i:Index)
MATCH (p:Passage)-[:PART_OF]->(d:Document)
WHERE p.cairnSince = i.version
WITH d, p
ORDER BY p.position
RETURN coalesce(d.title, d.sourceId) AS document, count(p) AS new, d.passages AS passages, collect(left(p.text, 80))[0] AS begins
ORDER BY document
LIMIT 100;
