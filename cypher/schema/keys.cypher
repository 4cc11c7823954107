// What publishing finds elements by; the index of each label follows. Keys stay unique because every write holds the
// lease, so that there is one writer at a time. The lease itself is unique by a constraint on a label that nobody else
// uses. Labels are created in the order of their indexes, and Neo4j Browser colors a node by its first one: both kinds
// of questions come before their common label.
CREATE CONSTRAINT cairn_own IF NOT EXISTS FOR (n:_Cairn) REQUIRE (n.id, n.cairnSince) IS UNIQUE;
