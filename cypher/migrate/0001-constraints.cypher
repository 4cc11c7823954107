// What makes a key a key: MERGE alone does not keep two of one apart. Uniqueness is in the Community edition.
CREATE CONSTRAINT cairn_index IF NOT EXISTS FOR (n:Index) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT cairn_publisher IF NOT EXISTS FOR (n:Publisher) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT cairn_migration IF NOT EXISTS FOR (n:Migration) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT cairn_document IF NOT EXISTS FOR (n:Document) REQUIRE (n.id, n.since) IS UNIQUE;
CREATE CONSTRAINT cairn_unit IF NOT EXISTS FOR (n:Unit) REQUIRE (n.id, n.since) IS UNIQUE;
CREATE CONSTRAINT cairn_passage IF NOT EXISTS FOR (n:Passage) REQUIRE (n.id, n.since) IS UNIQUE;
CREATE CONSTRAINT cairn_question IF NOT EXISTS FOR (n:Question) REQUIRE (n.id, n.since) IS UNIQUE;
CREATE CONSTRAINT cairn_entity IF NOT EXISTS FOR (n:Entity) REQUIRE (n.id, n.since) IS UNIQUE;
CREATE CONSTRAINT cairn_lexicon IF NOT EXISTS FOR (n:Lexicon) REQUIRE (n.id, n.since) IS UNIQUE;
CREATE CONSTRAINT cairn_part_of IF NOT EXISTS FOR ()-[r:PART_OF]-() REQUIRE (r.id, r.since) IS UNIQUE;
CREATE CONSTRAINT cairn_next IF NOT EXISTS FOR ()-[r:NEXT]-() REQUIRE (r.id, r.since) IS UNIQUE;
CREATE CONSTRAINT cairn_answered_by IF NOT EXISTS FOR ()-[r:ANSWERED_BY]-() REQUIRE (r.id, r.since) IS UNIQUE;
CREATE CONSTRAINT cairn_asks IF NOT EXISTS FOR ()-[r:ASKS]-() REQUIRE (r.id, r.since) IS UNIQUE;
CREATE CONSTRAINT cairn_leads_to IF NOT EXISTS FOR ()-[r:LEADS_TO]-() REQUIRE (r.id, r.since) IS UNIQUE;
CREATE CONSTRAINT cairn_mentioned_in IF NOT EXISTS FOR ()-[r:MENTIONED_IN]-() REQUIRE (r.id, r.since) IS UNIQUE;
CREATE CONSTRAINT cairn_names IF NOT EXISTS FOR ()-[r:NAMES]-() REQUIRE (r.id, r.since) IS UNIQUE;
