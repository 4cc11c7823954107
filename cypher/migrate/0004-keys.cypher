// What makes a key a key: MERGE alone does not keep two of one apart. Uniqueness is in the Community edition. Only
// elements of ours have `cairnSince`: a node of a user's own with one of these labels is under no constraint.
CREATE CONSTRAINT cairn_own_key IF NOT EXISTS FOR (n:_Cairn) REQUIRE n.id IS UNIQUE;
CREATE CONSTRAINT cairn_document_key IF NOT EXISTS FOR (n:Document) REQUIRE (n.id, n.cairnSince) IS UNIQUE;
CREATE CONSTRAINT cairn_unit_key IF NOT EXISTS FOR (n:Unit) REQUIRE (n.id, n.cairnSince) IS UNIQUE;
CREATE CONSTRAINT cairn_passage_key IF NOT EXISTS FOR (n:Passage) REQUIRE (n.id, n.cairnSince) IS UNIQUE;
CREATE CONSTRAINT cairn_question_key IF NOT EXISTS FOR (n:Question) REQUIRE (n.id, n.cairnSince) IS UNIQUE;
CREATE CONSTRAINT cairn_entity_key IF NOT EXISTS FOR (n:Entity) REQUIRE (n.id, n.cairnSince) IS UNIQUE;
CREATE CONSTRAINT cairn_lexicon_key IF NOT EXISTS FOR (n:Lexicon) REQUIRE (n.id, n.cairnSince) IS UNIQUE;
CREATE CONSTRAINT cairn_part_of_key IF NOT EXISTS FOR ()-[r:PART_OF]-() REQUIRE (r.id, r.cairnSince) IS UNIQUE;
CREATE CONSTRAINT cairn_next_key IF NOT EXISTS FOR ()-[r:NEXT]-() REQUIRE (r.id, r.cairnSince) IS UNIQUE;
CREATE CONSTRAINT cairn_answered_by_key IF NOT EXISTS FOR ()-[r:ANSWERED_BY]-() REQUIRE (r.id, r.cairnSince) IS UNIQUE;
CREATE CONSTRAINT cairn_asks_key IF NOT EXISTS FOR ()-[r:ASKS]-() REQUIRE (r.id, r.cairnSince) IS UNIQUE;
CREATE CONSTRAINT cairn_leads_to_key IF NOT EXISTS FOR ()-[r:LEADS_TO]-() REQUIRE (r.id, r.cairnSince) IS UNIQUE;
CREATE CONSTRAINT cairn_mentioned_in_key IF NOT EXISTS FOR ()-[r:MENTIONED_IN]-()
  REQUIRE (r.id, r.cairnSince) IS UNIQUE;
CREATE CONSTRAINT cairn_names_key IF NOT EXISTS FOR ()-[r:NAMES]-() REQUIRE (r.id, r.cairnSince) IS UNIQUE;
