// Names with the same beginning.
CALL () {
  MATCH (n:Entity) WHERE $entities AND n.folded STARTS WITH $beginning
    AND n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version)
  RETURN n.folded AS name
  UNION
  MATCH (n:Document) WHERE $documents AND toLower(n.name) STARTS WITH $beginning
    AND n.cairnSince <= $version AND (n.cairnUntil IS NULL OR n.cairnUntil > $version)
  RETURN n.name AS name
}
RETURN name ORDER BY name
