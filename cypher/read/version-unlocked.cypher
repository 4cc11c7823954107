// Where nothing may be written, not even a lock: then nobody publishes either.
MATCH (i:_Cairn:Index {id: 'cairn'})
RETURN i.version AS version, i.source AS source, i.format AS format, i.state AS state
