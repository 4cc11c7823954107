// Indexes by which publishing finds elements. Keys stay unique because every write holds the lease, so that there is
// one writer at a time. The lease itself is unique by a constraint on a label that nobody else uses. Labels are created
// in this order, and Neo4j Browser colors a node by its first one: both kinds of questions come before their common
// label.
CREATE CONSTRAINT cairn_own IF NOT EXISTS FOR (n:_Cairn) REQUIRE (n.id, n.cairnSince) IS UNIQUE;
CREATE INDEX cairn_document_id IF NOT EXISTS FOR (n:Document) ON (n.id);
CREATE INDEX cairn_passage_id IF NOT EXISTS FOR (n:Passage) ON (n.id);
CREATE INDEX cairn_incoming_id IF NOT EXISTS FOR (n:Incoming) ON (n.id);
CREATE INDEX cairn_outgoing_id IF NOT EXISTS FOR (n:Outgoing) ON (n.id);
CREATE INDEX cairn_entity_id IF NOT EXISTS FOR (n:Entity) ON (n.id);
CREATE INDEX cairn_community_id IF NOT EXISTS FOR (n:Community) ON (n.id);
CREATE INDEX cairn_summary_id IF NOT EXISTS FOR (n:Summary) ON (n.id);
