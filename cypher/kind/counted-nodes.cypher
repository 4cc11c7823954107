  { name: '<counted>', published: coalesce(i.<name>, 0), found: COUNT {
    MATCH (n:<nodes>)
    WHERE n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version)
  } }
