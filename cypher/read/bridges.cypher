// The shortest paths over relations between two entities, as `layers` joins its key entities, without those that visit
// an entity twice. $paths and $length_max are inserted as numbers, because Cypher allows no parameter there. No path
// leads through an entity that more than $documentsMax documents mention by any of its names; the ends are not bounded.
MATCH (a:Entity {id: $from})
WHERE a.cairnSince <= $version AND (a.cairnUntil IS NULL OR a.cairnUntil > $version)
MATCH (b:Entity {id: $to})
WHERE b.cairnSince <= $version AND (b.cairnUntil IS NULL OR b.cairnUntil > $version)
CALL (a, b) {
  MATCH path = SHORTEST $paths (
    (a) ((x)-[r:RELATES_TO]-(y:Entity)
      WHERE r.cairnSince <= $version AND (r.cairnUntil IS NULL OR r.cairnUntil > $version)
        AND (coalesce(y.cairnMentioning, y.documents) <= $documentsMax OR y.id IN $ends)
    ){1,$length_max} (b)
    WHERE NOT b IN x AND all(i IN range(1, size(x) - 1) WHERE NOT x[i] IN x[..i])
  )
  RETURN path
}
RETURN
  [n IN nodes(path) | {kind: 'entity', id: n.id, name: n.folded}] AS nodes,
  [r IN relationships(path) | {
    kind: type(r), from: startNode(r).id, passage: r.passage, sentence: r.cairnSentence
  }] AS steps
