MATCH ()-[r:<label>]->()
WITH count(r) AS count
RETURN '<label>' AS name, count
