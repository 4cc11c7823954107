SHOW INDEXES YIELD name, type, labelsOrTypes, properties, options, state, owningConstraint
RETURN name, type, labelsOrTypes AS labels, properties, state, owningConstraint AS constraint,
  options.indexConfig['vector.dimensions'] AS dimensions,
  options.indexConfig['vector.similarity_function'] AS similarity,
  options.indexConfig['fulltext.analyzer'] AS analyzer
