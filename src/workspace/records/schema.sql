-- The records of an index: its system of record. Ids and digests are blobs of 16 bytes, hashes blobs of 32; what is
-- repeated refers to row numbers. A digest is of what its comment says, as values, and is compared when that is read.

CREATE TABLE manifest (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    format    INTEGER NOT NULL,
    collection BLOB NOT NULL,      -- its id: made with the index, and kept by whatever becomes of it
    embedder  TEXT NOT NULL,       -- of the current version, and of the next unless that changes it
    dimension INTEGER NOT NULL,
    place     TEXT,                -- a JSON object: where the embedder's model lies on this machine; only a hint
    chunking  TEXT,                -- fingerprint of the options that made the passages, once there are any
    changed   INTEGER NOT NULL,    -- 1: documents came, changed or went since the current version was made
    current   INTEGER,             -- the last finished version
    digest    BLOB NOT NULL        -- of this row
) STRICT;

CREATE TABLE documents (
    document   INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    content    BLOB NOT NULL,
    root       TEXT NOT NULL,
    source_id  TEXT NOT NULL,
    title      TEXT,
    uri        TEXT NOT NULL,
    media_type TEXT NOT NULL,
    metadata   TEXT NOT NULL,      -- a JSON object of strings
    positions  TEXT,               -- a JSON object: where lines or pages of its file begin in its text, if it has any
    text       TEXT NOT NULL       -- last: it may be long, and is not read with the rest
) STRICT;

CREATE TABLE passages (
    passage    INTEGER PRIMARY KEY AUTOINCREMENT,
    document   INTEGER NOT NULL,
    id         BLOB NOT NULL UNIQUE,
    ordinal    INTEGER NOT NULL,
    span_start INTEGER NOT NULL,   -- its text is this part of the document's text
    span_end   INTEGER NOT NULL,
    section    TEXT,
    sentences  BLOB NOT NULL,      -- spans in its text: start and end, 4 bytes each, little-endian
    digest     BLOB NOT NULL       -- of its questions, in order, and of what wrote them
) STRICT;
CREATE INDEX passages_of_document ON passages (document);

CREATE TABLE questions (
    question INTEGER PRIMARY KEY AUTOINCREMENT,
    passage  INTEGER NOT NULL,
    id       BLOB NOT NULL,
    kind     INTEGER NOT NULL,     -- 0 in-coming, 1 out-coming
    origin   INTEGER NOT NULL,     -- 0 a rule, 1 a language model
    sentence INTEGER NOT NULL,
    text     TEXT NOT NULL,
    keywords TEXT NOT NULL         -- a JSON array of strings
) STRICT;
CREATE INDEX questions_of_passage ON questions (passage);

-- What a model found in a passage: entities, and relations between them.
CREATE TABLE extractions (
    passage INTEGER PRIMARY KEY,
    found   TEXT NOT NULL,         -- a JSON object, with spans in the passage's text
    digest  BLOB NOT NULL          -- of this row, and of what found it
) STRICT;

-- The types of entities that a model proposed for the collection.
CREATE TABLE entity_types (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    writer TEXT NOT NULL,          -- a digest of model and prompt
    types  TEXT NOT NULL,          -- a JSON array of strings
    digest BLOB NOT NULL           -- of this row
) STRICT;

-- What a model wrote about communities of entities, and about clusters of them.
CREATE TABLE reports (
    report_row INTEGER PRIMARY KEY,
    about      BLOB NOT NULL UNIQUE, -- the id of the community or the summary entity
    content    BLOB NOT NULL,        -- a digest of what the model was shown, 16 bytes
    writer     TEXT NOT NULL,        -- a digest of model and prompt
    report     TEXT NOT NULL,        -- a JSON object
    digest     BLOB NOT NULL         -- of this row
) STRICT;

-- A unit is a document up to its passages and rule-made questions (stage `passages`), or a passage up to the questions
-- that a model wrote (stage `questions`) or the entities that it found (stage `entities`), or a community with
-- its report (stage `reports`), or a cluster of entities with its summary (stage `summaries`). The `version` is only
-- counted: what a version has of a document is decided by the `digest` of its unit, which the version keeps. (Comments
-- within a statement cannot change, since an index has it to the letter.)
CREATE TABLE units (
    unit        INTEGER PRIMARY KEY,
    stage       TEXT NOT NULL,
    key         BLOB NOT NULL,
    fingerprint TEXT NOT NULL,
    state       INTEGER NOT NULL,  -- 1 done, 2 failed
    reason      TEXT,              -- of the failure
    version     INTEGER,           -- the first version that has it; none while it waits for one
    content     BLOB,              -- of a document: the digest of its row and of those of its passages
    digest      BLOB NOT NULL,     -- of this row but for its version
    UNIQUE (stage, key)
) STRICT;

-- What calls to models came to, made for the index.
CREATE TABLE spending (
    model         TEXT PRIMARY KEY,
    calls         INTEGER NOT NULL, -- answered by the server
    cached        INTEGER NOT NULL, -- answered from kept replies
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    is_estimated  INTEGER NOT NULL, -- 1: not all tokens were counted by the server
    cost          REAL,             -- none where a price was unknown
    currency      TEXT,
    digest        BLOB NOT NULL     -- of this row
) STRICT;

-- The counts of a version also say, as `stages`, of what its parts were made.
CREATE TABLE versions (
    version    INTEGER PRIMARY KEY,
    created_at TEXT NOT NULL,
    counts     TEXT NOT NULL,      -- a JSON object
    files      TEXT NOT NULL,      -- a JSON array: path, bytes and blake3 of every file
    digest     BLOB NOT NULL       -- of this row
) STRICT;

-- Of the last run.
CREATE TABLE skips (
    skip   INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    reason TEXT NOT NULL,
    digest BLOB NOT NULL           -- of this row
) STRICT;

-- Documents that somebody removed: a run that finds them leaves them out.
CREATE TABLE removed (
    id        BLOB PRIMARY KEY,
    source_id TEXT NOT NULL,
    uri       TEXT NOT NULL,
    digest    BLOB NOT NULL        -- of this row
) STRICT;

-- What somebody said of two names: it comes before what rules say.
CREATE TABLE name_pairs (
    one     TEXT NOT NULL,         -- folded words joined by one space, before the other in order
    other   TEXT NOT NULL,
    verdict INTEGER NOT NULL,      -- 0 names of one thing, 1 of different things
    digest  BLOB NOT NULL,         -- of this row
    PRIMARY KEY (one, other)
) STRICT;
