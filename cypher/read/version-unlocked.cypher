// Where nothing may be written, not even a lock: then nobody publishes either.
MATCH (i:Index {id: 'cairn'})
RETURN i.version AS version, i.source AS source
