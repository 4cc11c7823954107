// Where a question edge leads; where else a rare entity is mentioned, that is mentioned here or a name of the document;
// and the documents that bear a name which is mentioned.
UNWIND $from AS row
MATCH (p:Passage {id: row.id, since: row.since})-[part:PART_OF]->(own:Document)
WHERE part.since <= $version AND (part.until IS NULL OR part.until > $version)
CALL (p, own) {
  MATCH (p)-[r:LEADS_TO]->(n:Passage)
  WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
  RETURN n
UNION
  MATCH (p)<-[r:MENTIONED_IN]-(e:Entity)
  WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
    AND e.df <= $sharedDocumentsMax AND e.mentions <= $sharedMentionsMax
  MATCH (e)-[s:MENTIONED_IN]->(n:Passage)
  WHERE s.since <= $version AND (s.until IS NULL OR s.until > $version)
  RETURN n
UNION
  MATCH (own)<-[o:PART_OF]-(:Passage)<-[r:NAMES]-(e:Entity)
  WHERE o.since <= $version AND (o.until IS NULL OR o.until > $version)
    AND r.since <= $version AND (r.until IS NULL OR r.until > $version)
    AND NOT r.kind IN $partialNames AND e.bearers <= $bearersMax
    AND e.df <= $sharedDocumentsMax AND e.mentions <= $sharedMentionsMax
  MATCH (e)-[s:MENTIONED_IN]->(n:Passage)
  WHERE s.since <= $version AND (s.until IS NULL OR s.until > $version)
  RETURN n
UNION
  MATCH (p)<-[r:MENTIONED_IN]-(e:Entity)
  WHERE r.since <= $version AND (r.until IS NULL OR r.until > $version)
    AND e.bearers <= $bearersMax
  MATCH (e)-[s:NAMES]->(b:Passage)-[o:PART_OF]->(d:Document)
  WHERE s.since <= $version AND (s.until IS NULL OR s.until > $version)
    AND o.since <= $version AND (o.until IS NULL OR o.until > $version)
  MATCH (d)<-[t:PART_OF]-(n:Passage)
  WHERE t.since <= $version AND (t.until IS NULL OR t.until > $version)
    AND (n = b OR d.passages <= $namedPassagesMax)
  RETURN n
}
WITH n, row.score AS score
WITH n, max(score) AS score
MATCH (n)-[o:PART_OF]->(d:Document)
WHERE o.since <= $version AND (o.until IS NULL OR o.until > $version)
RETURN n.id AS id, n.since AS since, d.id AS document, d.sourceId AS source, n.ordinal AS ordinal, score,
  size([keyword IN coalesce(n.keywords, []) WHERE keyword IN $keywords]) AS shared
