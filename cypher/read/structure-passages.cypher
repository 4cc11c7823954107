MATCH (p:Passage)-[r:PART_OF]->(d:Document)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
  AND (r.since > $after OR r.changed > $after OR p.changed > $after)
RETURN p.id AS id, p.since AS since, d.id AS document, p.ordinal AS ordinal, p.length AS length,
  p.sentenceLengths AS sentences
