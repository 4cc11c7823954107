SHOW INDEXES YIELD name, state, owningConstraint WHERE state = 'FAILED' AND owningConstraint IS NULL
RETURN name
