MATCH (n:<label>)
WITH count(n) AS count
RETURN '<label>' AS name, count
