// The shortest paths between two nodes, without those that visit a node twice: SHORTEST itself only forbids that a path
// takes a relationship twice. CALL binds one pair of ends, so that the search begins at both. $paths and $length_max
// are inserted as numbers, because Cypher allows no parameter there.
MATCH (a:Passage|Entity|Document {id: $from})
WHERE a.cairnSince <= $version AND (a.cairnUntil IS NULL OR a.cairnUntil > $version)
MATCH (b:Passage|Entity|Document {id: $to})
WHERE b.cairnSince <= $version AND (b.cairnUntil IS NULL OR b.cairnUntil > $version)
CALL (a, b) {
  MATCH path = SHORTEST $paths (
    (a) ((x)-[r:LEADS_TO|MAY_LEAD_TO|MENTIONED_IN|PART_OF]-(y)
      WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version) AND type(r) IN $kinds
        AND (type(r) <> 'PART_OF' OR endNode(r).id IN $ends)
        AND (y.documents IS NULL OR y.documents <= $documentsMax OR y.id IN $ends)
    ){1,$length_max} (b)
    WHERE NOT b IN x AND all(i IN range(1, size(x) - 1) WHERE NOT x[i] IN x[..i])
  )
  RETURN path
}
RETURN
  [n IN nodes(path) | {
    kind: CASE WHEN n:Passage THEN 'passage' WHEN n:Entity THEN 'entity' ELSE 'document' END,
    id: n.id, name: CASE WHEN n:Passage THEN n.title WHEN n:Entity THEN n.folded ELSE n.name END, section: n.section
  }] AS nodes,
  [r IN relationships(path) | {kind: type(r), from: startNode(r).id, question: r.question}] AS steps
