MATCH (m:Migration {number: $number})
DELETE m
