// The one write that makes a version the current one.
MERGE (i:Index {id: 'cairn'})
SET i = $properties
