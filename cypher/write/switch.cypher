// The one write that makes a version the current one.
MERGE (i:_Cairn:Index {id: 'cairn'})
SET i += $properties
