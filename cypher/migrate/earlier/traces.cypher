// Whether the graph is of the format before this one, or was left on the way from there.
CALL () {
  MATCH (m:Migration)
  WHERE NOT m:_Cairn AND m.id IN ['0001-constraints', '0002-full-text', '0003-vectors'] AND m.checksum IS NOT NULL
  RETURN count(m) AS migrations
}
CALL () {
  MATCH (i:Index {id: 'cairn', format: 1})
  WHERE NOT i:_Cairn
  RETURN count(i) AS indexes
}
CALL () {
  MATCH (i:_Cairn:Index {id: 'cairn', state: 'converting'})
  RETURN count(i) AS begun
}
RETURN migrations + indexes + begun AS traces
