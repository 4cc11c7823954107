// One index per label and property, with the embedder's dimension.
CREATE VECTOR INDEX cairn_passage_embedding IF NOT EXISTS FOR (n:Passage) ON (n.embedding)
  OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine'}};
CREATE VECTOR INDEX cairn_incoming_embedding IF NOT EXISTS FOR (n:Incoming) ON (n.embedding)
  OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine'}};
