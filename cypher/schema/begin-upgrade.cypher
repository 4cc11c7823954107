// Nodes that exist only once had no version in earlier formats, but publishing looks for it.
MATCH (n:_Cairn)
WHERE (n:Index OR n:Publisher) AND n.cairnSince IS NULL
SET n.cairnSince = 0
