// Created after the first load: filling an index at once costs less than row by row. What people type comes first.
CREATE INDEX cairn_document_title IF NOT EXISTS FOR (n:Document) ON (n.title);
CREATE INDEX cairn_document_source IF NOT EXISTS FOR (n:Document) ON (n.sourceId);
CREATE INDEX cairn_passage_title IF NOT EXISTS FOR (n:Passage) ON (n.title);
CREATE INDEX cairn_entity_name IF NOT EXISTS FOR (n:Entity) ON (n.name);
CREATE FULLTEXT INDEX cairn_passage_text IF NOT EXISTS FOR (n:Passage) ON EACH [n.title, n.text, n.keywords]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
CREATE FULLTEXT INDEX cairn_incoming_text IF NOT EXISTS FOR (n:Incoming) ON EACH [n.name]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
CREATE FULLTEXT INDEX cairn_entity_text IF NOT EXISTS FOR (n:Entity) ON EACH [n.name, n.aliases, n.type, n.description]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
CREATE FULLTEXT INDEX cairn_community_text IF NOT EXISTS FOR (n:Community) ON EACH [n.name, n.findings]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
CREATE FULLTEXT INDEX cairn_summary_text IF NOT EXISTS FOR (n:Summary) ON EACH [n.name, n.description]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
CREATE FULLTEXT INDEX cairn_leads_to_text IF NOT EXISTS FOR ()-[r:LEADS_TO]-() ON EACH [r.question, r.keywords]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
