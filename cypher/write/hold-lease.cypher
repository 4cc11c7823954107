// The first statement of every write: it belongs to the publisher that holds the lease, or to nobody. Returns the last
// batch that was committed, so that one whose outcome was unknown is not sent twice.
MATCH (l:_Cairn:Publisher {id: 'publisher'})
SET l._lock = true
REMOVE l._lock
WITH l, l.batch AS previous
WHERE l.owner = $owner AND l.epoch = $epoch
SET l.expires = timestamp() + $lease_ms, l.batch = $batch
RETURN previous
