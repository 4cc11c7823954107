MATCH (m:Migration)
RETURN m.id AS id, m.number AS number, m.checksum AS checksum
ORDER BY m.number
