// Questions of a passage: what it answers and what it asks. Set a name first, :param name => 'Heron Bridge'
MATCH (p:Passage)
WHERE toLower(p.title) CONTAINS toLower($name)
WITH p
LIMIT 1
MATCH path = (p)-[:ASKS|ANSWERED_BY]-(:Question)
RETURN path;
