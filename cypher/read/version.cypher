// Before and after a read. Removing what is not there changes nothing, and waits for a switch that is under way: a
// version that is the same before and after was whole in between.
MATCH (i:_Cairn:Index {id: 'cairn'})
REMOVE i._lock
RETURN i.version AS version, i.source AS source, i.format AS format, i.state AS state
