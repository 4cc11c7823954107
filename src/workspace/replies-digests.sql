-- What each reply must be: a digest of its key and its text. Files of earlier programs come to have it when they are
-- opened to be written.
CREATE TABLE digests (
    number INTEGER PRIMARY KEY, -- of the reply
    digest BLOB NOT NULL
) STRICT;
