DROP INDEX passage_embedding IF EXISTS;
DROP INDEX incoming_embedding IF EXISTS;
