MERGE (m:Migration {id: $id})
SET m.name = $id, m.number = $number, m.checksum = $checksum
