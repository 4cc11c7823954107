// The key of relationships between documents that are nearly equal.
CREATE CONSTRAINT cairn_duplicate_of_key IF NOT EXISTS FOR ()-[r:DUPLICATE_OF]-()
  REQUIRE (r.id, r.cairnSince) IS UNIQUE;
