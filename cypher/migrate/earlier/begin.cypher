// The lock first: a publisher of the program before this one is waited for. From here on that program refuses the
// graph: its readers because of format and source, its publishers because of the checksums. Readers of this one wait.
OPTIONAL MATCH (l:Publisher {id: 'cairn'})
WHERE NOT l:_Cairn AND l.epoch IS NOT NULL
SET l._lock = true
REMOVE l._lock
WITH l, coalesce(l.expires >= timestamp() AND l.owner <> $owner, false) AS busy
FOREACH (it IN CASE WHEN l IS NULL OR busy THEN [] ELSE [l] END | SET it:_Cairn, it.id = 'publisher')
WITH l, busy
OPTIONAL MATCH (i:Index {id: 'cairn', format: 1})
WHERE NOT i:_Cairn AND NOT busy
SET i:_Cairn, i.format = 2, i.state = 'converting', i.source = 'format 1, ' + i.source
WITH l, busy
OPTIONAL MATCH (m:Migration)
WHERE NOT m:_Cairn AND NOT busy AND m.checksum IS NOT NULL
  AND m.id IN ['0001-constraints', '0002-full-text', '0003-vectors']
SET m.checksum = 'format 2'
RETURN DISTINCT busy, l.shown AS owner
