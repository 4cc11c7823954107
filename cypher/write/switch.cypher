// The one write that makes a version the current one.
MERGE (i:_Cairn:Index {id: 'cairn', cairnSince: 0})
SET i += $properties, i.published = toString(datetime.truncate('second', datetime({timezone: 'UTC'})))
