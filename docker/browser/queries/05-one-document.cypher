// One document from inside: its first passages in order, what they answer and what they raise, matched questions first. Set a title first, :param title => 'Heron Bridge'
MATCH (p:Passage {title: $title})-[part:PART_OF]->(d:Document)
WITH d, part, p
ORDER BY d.id, p.position
LIMIT 6
OPTIONAL MATCH next = (p)-[:NEXT]->(following:Passage) WHERE following.position <= 6
WITH d, part, p, next, 12 / CASE WHEN d.passages < 6 THEN d.passages ELSE 6 END AS most
CALL (p) {
  MATCH question = (p)-[:ASKS|ANSWERED_BY]-(q:Question)
  WITH question, q ORDER BY NOT EXISTS { (q)-[:MATCHED_WITH]-() }, q.name CONTAINS ', mentioned with ', q.name
  RETURN collect(question) AS questions
}
RETURN d, part, p, next, questions[..most] AS questions;
