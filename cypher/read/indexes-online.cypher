SHOW INDEXES YIELD name, state
WHERE state <> 'ONLINE' AND name IN $names
RETURN count(*) AS waiting, collect(CASE state WHEN 'FAILED' THEN name END) AS failed
