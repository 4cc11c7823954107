MATCH (m:_Cairn:Migration)
RETURN m.id AS id, m.number AS number, m.checksum AS checksum
ORDER BY m.number
