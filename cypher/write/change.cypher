// What the version to come takes away, for readers that hold the one before; those of long ago are forgotten.
OPTIONAL MATCH (old:Change)
WHERE old.version <= $forgotten OR old.version >= $version
DELETE old
WITH count(old) AS forgotten
CREATE (c:Change)
SET c = $properties
