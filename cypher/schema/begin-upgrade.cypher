// The nodes of which there is one each had no version in formats before this one; publishing looks for it.
MATCH (n:_Cairn)
WHERE (n:Index OR n:Publisher) AND n.cairnSince IS NULL
SET n.cairnSince = 0
