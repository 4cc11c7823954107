MERGE (m:_Cairn:Migration {id: $id})
SET m.name = $id, m.number = $number, m.checksum = $checksum
