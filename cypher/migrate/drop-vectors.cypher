DROP INDEX cairn_passage_embedding IF EXISTS;
DROP INDEX cairn_incoming_embedding IF EXISTS;
