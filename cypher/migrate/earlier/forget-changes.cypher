// Readers that hold an earlier version are of the earlier program.
MATCH (c:Change)
WHERE NOT c:_Cairn AND c.previous IS NOT NULL AND c.source IS NOT NULL AND c.name STARTS WITH 'changes of version '
DETACH DELETE c
