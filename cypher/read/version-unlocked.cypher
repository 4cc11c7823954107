// For databases in which nothing may be written, not even a lock: nobody publishes there either.
MATCH (i:_Cairn:Index {id: 'cairn'})
RETURN i.version AS version, i.source AS source, i.format AS format, i.state AS state
