UNWIND $passages AS row
MATCH (p:Passage {id: row.id, since: row.since})-[r:PART_OF]->(d:Document)
WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
RETURN p.id AS id, p.since AS since, d.id AS document, p.ordinal AS ordinal, p.length AS length,
  p.sentenceLengths AS sentences, p.keywords AS keywords
