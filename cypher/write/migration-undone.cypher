MATCH (m:_Cairn:Migration {number: $number})
DETACH DELETE m
