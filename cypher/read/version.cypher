// Run before and after a read. Removing a missing property changes nothing, but waits for a switch in progress: a
// version that is the same before and after was complete in between.
MATCH (i:_Cairn:Index {id: 'cairn'})
REMOVE i._lock
RETURN i.version AS version, i.source AS source, i.format AS format, i.state AS state
