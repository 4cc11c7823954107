// The lock comes first, so that two publishers check one after the other whether the lease is free.
MERGE (l:_Cairn:Publisher {id: 'publisher', cairnSince: 0})
ON CREATE SET l.name = 'Publisher', l.epoch = 0, l.expires = 0, l.owner = '', l.batch = 0, l.plan = ''
SET l._lock = true
REMOVE l._lock
WITH l
WHERE l.owner = $owner OR l.expires < timestamp()
SET l.owner = $owner, l.epoch = l.epoch + 1, l.shown = $shown, l.expires = timestamp() + $lease_ms, l.batch = 0
RETURN l.epoch AS epoch, l.plan AS plan
