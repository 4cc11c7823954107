SHOW INDEXES YIELD name, owningConstraint WHERE name = $name AND owningConstraint IS NULL
RETURN name
