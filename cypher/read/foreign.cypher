MATCH (n)
WHERE NOT n:_Cairn
RETURN count(n) AS nodes
