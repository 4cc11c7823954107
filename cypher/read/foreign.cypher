MATCH (n)
WHERE NOT n:Migration AND NOT n:Publisher
RETURN count(n) AS nodes
