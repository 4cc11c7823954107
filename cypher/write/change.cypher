// What the version to come takes away, for readers that hold the one before; those of long ago are forgotten.
OPTIONAL MATCH (old:_Cairn:Change)
WHERE old.version <= $forgotten OR old.version >= $version
DETACH DELETE old
WITH count(old) AS forgotten
CREATE (c:_Cairn:Change)
SET c = $properties
