CREATE INDEX cairn_<name>_id IF NOT EXISTS FOR (n:<label>) ON (n.id);
