SHOW INDEXES YIELD name, state
WHERE state <> 'ONLINE'
RETURN count(*) AS waiting, collect(CASE state WHEN 'FAILED' THEN name END) AS failed
