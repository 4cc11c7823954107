// Made after the first load: filling an index at once costs less than row by row.
CREATE FULLTEXT INDEX cairn_passage_text IF NOT EXISTS FOR (n:Passage) ON EACH [n.text, n.keywords]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
CREATE FULLTEXT INDEX cairn_incoming_text IF NOT EXISTS FOR (n:Incoming) ON EACH [n.text, n.keywords]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
CREATE FULLTEXT INDEX cairn_entity_text IF NOT EXISTS FOR (n:Entity) ON EACH [n.name, n.aliases, n.description]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
CREATE FULLTEXT INDEX cairn_leads_to_text IF NOT EXISTS FOR ()-[r:LEADS_TO]-() ON EACH [r.question, r.keywords]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}};
