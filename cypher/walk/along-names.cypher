// The passages to which question edges lead, those that also mention a rare entity that is mentioned here or a name of
// this document, and those of documents whose name is mentioned.
UNWIND $from AS row
MATCH (p:Passage {id: row.id, cairnSince: row.since})-[part:PART_OF]->(own:Document)
WHERE part.cairnSince <= $version AND (part.cairnUntil IS NULL OR part.cairnUntil > $version)
CALL (p, own) {
  MATCH (p)-[r:LEADS_TO|MAY_LEAD_TO]->(n:Passage)
  WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
  RETURN n
UNION
  MATCH (p)<-[r:MENTIONED_IN]-(e:Entity)
  WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
    AND e.documents <= $sharedDocumentsMax AND e.mentions <= $sharedMentionsMax
  MATCH (e)-[s:MENTIONED_IN]->(n:Passage)
  WHERE s.cairnSince <= $version AND (s.cairnUntil IS NULL OR s.cairnUntil > $version)
  RETURN n
UNION
  MATCH (own)<-[o:PART_OF]-(:Passage)<-[r:NAMES]-(e:Entity)
  WHERE o.cairnSince <= $version AND (o.cairnUntil IS NULL OR o.cairnUntil > $version)
    AND r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
    AND NOT r.kind IN $partialNames AND e.bearers <= $bearersMax
    AND e.documents <= $sharedDocumentsMax AND e.mentions <= $sharedMentionsMax
  MATCH (e)-[s:MENTIONED_IN]->(n:Passage)
  WHERE s.cairnSince <= $version AND (s.cairnUntil IS NULL OR s.cairnUntil > $version)
  RETURN n
UNION
  MATCH (p)<-[r:MENTIONED_IN]-(e:Entity)
  WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
    AND e.bearers <= $bearersMax
  MATCH (e)-[s:NAMES]->(b:Passage)-[o:PART_OF]->(d:Document)
  WHERE s.cairnSince <= $version AND (s.cairnUntil IS NULL OR s.cairnUntil > $version)
    AND o.cairnSince <= $version AND (o.cairnUntil IS NULL OR o.cairnUntil > $version)
  MATCH (d)<-[t:PART_OF]-(n:Passage)
  WHERE t.cairnSince <= $version AND (t.cairnUntil IS NULL OR t.cairnUntil > $version)
    AND (n = b OR d.passages <= $namedPassagesMax)
  RETURN n
}
WITH n, row.score AS score
WITH n, max(score) AS score
MATCH (n)-[o:PART_OF]->(d:Document)
WHERE o.cairnSince <= $version AND (o.cairnUntil IS NULL OR o.cairnUntil > $version)
RETURN n.id AS id, n.cairnSince AS since, d.id AS document, d.sourceId AS source, n.position AS position, score,
  size([keyword IN coalesce(n.keywords, []) WHERE keyword IN $keywords]) AS shared
