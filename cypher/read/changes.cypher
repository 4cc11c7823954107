// What each version since another took away.
MATCH (c:_Cairn:Change)
WHERE c.version > $after AND c.version <= $version
RETURN c.version AS version, c.previous AS previous, c.source AS source, c.removed AS removed
ORDER BY version
