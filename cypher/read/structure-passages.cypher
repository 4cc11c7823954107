MATCH (p:Passage)-[r:PART_OF]->(d:Document)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN p.id AS id, p.since AS since, d.id AS document, p.ordinal AS ordinal, p.length AS length,
  p.sentenceLengths AS sentences, p.names AS names, p.nameKinds AS kinds
