  { name: '<counted>', published: coalesce(i.<name>, 0), found: COUNT {
    MATCH ()-[r:<relationships>]->()
    WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
  } }
