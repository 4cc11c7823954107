// Counts what is ours, other people's relationships attached to it, and other people's nodes.
CALL () { MATCH (n:<nodes>) WHERE n.cairnSince IS NOT NULL RETURN count(n) AS nodes }
CALL () { MATCH ()-[r:<relationships>]->() WHERE r.cairnSince IS NOT NULL RETURN count(r) AS relationships }
CALL () {
  MATCH (n:<nodes>)-[r]-()
  WHERE n.cairnSince IS NOT NULL AND r.cairnSince IS NULL
  RETURN count(DISTINCT r) AS detached
}
CALL () { MATCH (n) WHERE n.cairnSince IS NULL AND NOT n:_Cairn RETURN count(n) AS kept }
RETURN nodes, relationships, detached, kept
