-- What language models replied, by the digest of all that the reply depends on.
CREATE TABLE replies (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key BLOB NOT NULL UNIQUE,
    reply TEXT NOT NULL
) STRICT;
