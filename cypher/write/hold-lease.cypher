// The first statement of every write: only the publisher that holds the lease gets a result. Returns the last committed
// batch, so that one with an unknown outcome is not sent twice.
MATCH (l:_Cairn:Publisher {id: 'publisher'})
SET l._lock = true
REMOVE l._lock
WITH l, l.batch AS previous
WHERE l.owner = $owner AND l.epoch = $epoch
SET l.expires = timestamp() + $lease_ms, l.batch = $batch
RETURN previous
