//! Hints about errors on the command line: which flag, setting or command helps.

use std::io;

use crate::domain::{ChatError, DatabaseError, EmbeddingError, RuntimeError};
use crate::error::{Error, ErrorKind};
use crate::{index, ingest, query};

/// The hint for an index without a finished version.
pub(super) const FIRST_VERSION: &str = "create the first with `cairn index PATH`; documents read so far are kept";
const NEEDS_TRUST: &str = "put it into your own configuration, `~/.config/cairn/cairn.toml`, or name the file with \
                           `--config FILE` if you trust all of it; nothing was done";
const NEEDS_WORD: &str = "confirm the address with `CAIRN_EMBEDDER_URL` or, permanently, in `model.confirmed` of your \
                          own configuration, `~/.config/cairn/cairn.toml`, or name the embedder with `--embedder \
                          SERVER:MODEL`; `--strategy lexical` asks no server";
const RUNTIME_UNNAMED: &str = "give the library of ONNX Runtime 1.24 or later with `--onnx-runtime FILE`, \
                               `CAIRN_ONNX_RUNTIME` or `onnx_runtime` in your own configuration, \
                               `~/.config/cairn/cairn.toml`, or name the model with `--embedder onnx:DIR`, if the \
                               library beside it is to be loaded";
const RUNTIME_MISSING: &str = "give the library of ONNX Runtime 1.24 or later with `--onnx-runtime FILE` or \
                               `CAIRN_ONNX_RUNTIME`, or put it into the folder of the model and name that";
/// What to do about records that are damaged: everything else is made from them.
const RECORDS_LOST: &str = "see what is damaged with `cairn check`, and repair it with `cairn check --repair` or by \
    `cairn index` of the same documents; otherwise remove the folder of the index, or name another with `--index DIR`, \
    and index the documents again";
/// What to do about a damaged part that is made from the records.
const DERIVED_LOST: &str = "run `cairn index` again: it rebuilds the damaged part from the records";
/// What to do about kept replies that cannot be read.
const REPLIES_LOST: &str = "remove the file: it only saves calls that models have answered before";
/// What to do about a refusal of the system.
const REFUSED: &str = "check permissions and free space, then run the same command again; finished versions are kept";

/// What to do about a file that is not there.
const NOT_FOUND: &str = "check the path, then run the same command again";

/// The hint if a folder of an index is something else, such as a link.
const FOLDER_MISPLACED: &str = "move the folder itself back to this place, or make the index elsewhere with `--index \
    DIR`; nothing was changed, and nothing outside the index is ever read or removed through a link";
/// The hint if a file is something else.
const FILE_MISPLACED: &str = "put the file itself there, or name another; if it belongs to an index, remove it: `cairn \
    index` rebuilds what can be made from the records; nothing was changed";
/// The hint if there is too little memory.
const OUT_OF_MEMORY: &str =
    "there is too little memory: end other programs, or give this one more; the index is as it was";

/// What to do about a certificate that is not trusted.
const UNTRUSTED: &str = "use the server name in the certificate, name the certificate of its issuer with \
    `SSL_CERT_FILE=FILE` in the environment, or accept any certificate with `bolt+ssc://`; nothing was changed";
/// The hint if the encryption of client and server does not match.
const UNENCRYPTED: &str = "check that the server is up, whether it requires encryption (`bolt+s://`, `bolt+ssc://`) \
    or does not support it (`bolt://`), and that the port is that of Bolt; nothing was changed";

/// The hint if the model of an index is not found.
const MODEL_GONE: &str = "name its folder with `--embedder onnx:DIR` or `CAIRN_EMBEDDER`, or give the index another \
    embedder with `cairn index --re-embed --embedder builtin`";

/// Returns the hint for an error, if it does not depend on the command.
pub(super) fn hint(error: &Error) -> Option<&'static str> {
    match error {
        Error::MissingPath { .. } => Some("check the path; nothing was changed"),
        Error::NoDocuments { .. } => Some(
            "docs/formats.md lists the formats that are read and says how to convert others; `--hidden` and \
                 `--no-ignore` read what is left out; the index was left as it was",
        ),
        Error::Settings { .. } => Some("correct the file, or name another with `--config FILE`; nothing was changed"),
        Error::FoundSettings { .. } => Some(NEEDS_TRUST),
        Error::Unconfirmed { .. } => Some(NEEDS_WORD),
        Error::Unknown { .. } => Some(
            "give the id of a passage, the name of an entity (`cairn entities list` shows all), or the title or the id \
             of a document",
        ),
        Error::Ambiguous { .. } => Some("give the id of one: `document:ID`"),
        Error::NoIndex { .. } => Some("make one with `cairn index PATH`, or name another folder with `--index DIR`"),
        Error::NoVersion { .. } => Some(FIRST_VERSION),
        Error::NotAnIndex { .. } => Some("name another folder with `--index DIR`; nothing was changed"),
        Error::Busy { .. } => Some("wait for it to end; searches still read the last finished version"),
        Error::NoTopics => Some("run `cairn index` with the same paths again; nothing is read or embedded twice"),
        Error::Format { .. } => Some("use the program that made it, or index the documents into another folder"),
        Error::Embedder { .. } => {
            Some("use the embedder of the index, or switch to the other with `cairn index --re-embed --embedder NAME`")
        }
        Error::Runtime { source: RuntimeError::NotInSystem } => Some(RUNTIME_UNNAMED),
        Error::Runtime { .. } => Some(RUNTIME_MISSING),
        Error::Model { .. } => Some(
            "a model folder has model.onnx, tokenizer.json, config.json, special_tokens_map.json and \
             tokenizer_config.json",
        ),
        Error::ModelGone { .. } => Some(MODEL_GONE),
        Error::Database { source, .. } => Some(of_database(source)),
        Error::Chat { source, .. } | Error::RerankerServer { source, .. } | Error::WebSearch { source, .. } => {
            Some(of_chat(source))
        }
        Error::EmbedderServer { source, .. } => Some(of_embedder(source)),
        Error::Unfinished { .. } => Some("make a version with `cairn index PATH`, then publish"),
        Error::Deadline { .. } => Some(
            "give it more time with `--deadline SECONDS`, or find out why the server or this machine is slow; nothing \
             was changed",
        ),
        Error::Cancelled => Some("finished work is kept; the same command continues from there"),
        Error::Internal(_) => Some("please report this, with the output of the same command and `-v`"),
        Error::Corrupt { path, .. } if path.ends_with("cairn.db") => Some(RECORDS_LOST),
        Error::Corrupt { path, .. } if path.ends_with("replies.db") => Some(REPLIES_LOST),
        Error::Corrupt { .. } => Some(DERIVED_LOST),
        Error::Misplaced { needed, .. } => Some(misplaced(needed)),
        Error::Foreign { .. } => Some("move it elsewhere, then run the same command again; nothing was removed"),
        Error::Io { .. } => Some(refused(error)),
        Error::Records { .. } | Error::TextIndex { .. } => match error.kind() {
            ErrorKind::Corrupt if matches!(error, Error::Records { .. }) => Some(RECORDS_LOST),
            ErrorKind::Corrupt => Some(DERIVED_LOST),
            ErrorKind::Io => Some(refused(error)),
            _ => None,
        },
        Error::NoDatabase => {
            Some("name one with `--neo4j URI`, `CAIRN_NEO4J_URI` or `neo4j.uri` in your own configuration")
        }
        Error::WalkedByNeo4j { .. } => {
            Some("ask with `--traversal memory`, or make an index of the graph with `cairn clone`")
        }
        Error::Option { reason, .. } => command(reason),
        Error::Question { .. } | Error::Line { .. } | Error::Embedding { .. } => None,
    }
}

/// Returns the command that helps with what the library says in a warning, a reason for leaving something out, or a
/// refusal of an option.
pub(super) fn command(said: &str) -> Option<&'static str> {
    const COMMANDS: [(&str, &str); 6] = [
        (index::REMOVED, "`cairn remove --undo DOCUMENT` takes it back"),
        (index::ADDED, "to use this one, run `cairn remove DOCUMENT` and then `cairn remove --undo DOCUMENT`"),
        (index::UNMOUNTED, "`cairn index PATH --remove` removes them"),
        (index::CONVERTED, "`cairn status` lists what was left out"),
        (ingest::SEVERAL, "`cairn index -` indexes each of them"),
        (query::NO_TREES, "`cairn eval fit` makes some"),
    ];
    COMMANDS.iter().find(|(end, _)| said.ends_with(end)).map(|it| it.1)
}

/// Returns the hint for an error of the server of an embedder.
fn of_embedder(error: &ChatError) -> &'static str {
    match error {
        error if error.needs_correction() => of_chat(error),
        ChatError::Budget { .. } => "allow more: finished work is kept, and the same command continues from there",
        ChatError::Vectors { fault: EmbeddingError::Dimension { .. } } => {
            "its model may not be the one with which the index was made: switch the index to it with `cairn index \
             --re-embed --embedder NAME`, or use another"
        }
        _ => {
            "check that its server runs and try again; `--strategy lexical` needs no embedder, and `cairn index \
             --re-embed --embedder builtin` switches the index to another"
        }
    }
}

/// Returns the hint for a refusal of the system.
fn refused(error: &Error) -> &'static str {
    match error {
        _ if error.is_out_of_memory() => OUT_OF_MEMORY,
        Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => NOT_FOUND,
        _ => REFUSED,
    }
}

fn misplaced(needed: &str) -> &'static str {
    if needed == "a folder" { FOLDER_MISPLACED } else { FILE_MISPLACED }
}

const fn of_database(error: &DatabaseError) -> &'static str {
    match error {
        DatabaseError::Address { .. } => {
            "give one such as `bolt://localhost:7687` or `neo4j+s://host`; nothing was changed"
        }
        DatabaseError::Unreachable { .. } => {
            "check that the server runs, its disk has space and the address is right, then run the same command \
             again: it continues where this one stopped, and readers see the last complete version"
        }
        DatabaseError::Certificate { .. } => UNTRUSTED,
        DatabaseError::Encryption { .. } => UNENCRYPTED,
        DatabaseError::Password { .. } => {
            "give them with `--user NAME` and `--password-file FILE`, or `CAIRN_NEO4J_USER` and \
             `CAIRN_NEO4J_PASSWORD`; nothing was changed"
        }
        DatabaseError::NoDatabase { .. } => {
            "leave `--database` out for the server's own, `neo4j`, the only one in the Community edition, or name one \
             that `SHOW DATABASES` lists; nothing was changed"
        }
        DatabaseError::TooOld { .. } => "use Neo4j 5.26; nothing was changed",
        DatabaseError::ReadOnly { .. } => {
            "allow the user to write there, or name another database; nothing was changed"
        }
        DatabaseError::Foreign { .. } => "name an empty database with `--database NAME`; nothing was changed",
        DatabaseError::OtherIndex { .. } => {
            "publish with `--replace` if that is what you want, or name another database with `--database NAME`; \
             nothing was changed"
        }
        DatabaseError::Conflict { .. } => "drop them (`DROP CONSTRAINT NAME`, `DROP INDEX NAME`); nothing was changed",
        DatabaseError::Earlier { .. } => {
            "publish its index again with `cairn publish --neo4j URI`, which replaces all of it; nothing was changed"
        }
        DatabaseError::NoIndex => "publish one with `cairn publish --neo4j URI`",
        DatabaseError::Format { .. } => "use the program that published it; nothing was changed",
        DatabaseError::Embedder { .. } => {
            "publish with `--re-embed`, which replaces all vectors and their indexes; nothing was changed"
        }
        DatabaseError::Schema { .. } => "recreate them with `cairn check --neo4j URI --repair`; nothing was changed",
        DatabaseError::Publishing { .. } => {
            "wait for it to end; if it was killed, run the same command again once its lease has ended; nothing was \
             changed"
        }
        DatabaseError::Overtaken => {
            "run the same command again when the other has ended; readers see the last complete version"
        }
        DatabaseError::Changing { .. } => "run the same command again when publishing has ended",
        DatabaseError::Memory { .. } => {
            "give the server more, with `dbms.memory.transaction.total.max` or a larger heap, then run the same \
             command again: it continues where this one stopped"
        }
        DatabaseError::Damaged { .. } => "republish it with `cairn check --neo4j URI --repair`",
        DatabaseError::Unfilled { .. } => {
            "check the server's log for a full disk, make space, then run the same command \
             again: it rebuilds them"
        }
        DatabaseError::Fault { .. } => {
            "check its log for a full disk, make space and start it again, then run the \
             same command again: it continues where this one stopped, and readers see the last complete version"
        }
        DatabaseError::Statement { .. } => {
            "run the same command again: it continues where this one stopped; the server's own log says more"
        }
    }
}

const fn of_chat(error: &ChatError) -> &'static str {
    match error {
        ChatError::Address { .. } => {
            "correct `model.url` or `model.headers` in your own cairn.toml, or `CAIRN_MODEL_URL`"
        }
        ChatError::Key { .. } => {
            "give a key in `CAIRN_MODEL_KEY`, or a file with it as `model.key_file` in your own cairn.toml"
        }
        ChatError::Request { .. } => {
            "check the name of the model, and what its server takes: `cairn doctor --probe --model …` finds out"
        }
        ChatError::NoPrice { .. } => "give its price in the file of `model.prices`, or a budget of calls or tokens",
        ChatError::Budget { .. } => "allow more, or ask without a model",
        ChatError::NotRecorded { .. } => {
            "replay with the question, index, options and model of the recording, or record again"
        }
        ChatError::VectorNotRecorded { .. } => {
            "replay with the documents or question, index, options and embedder of the recording, or record again"
        }
        ChatError::ScoreNotRecorded { .. } => {
            "replay with the question, index, options and reranker of the recording, or record again"
        }
        ChatError::SearchNotRecorded { .. } => {
            "replay with the question, index, options, model and web server of the recording, or record again"
        }
        ChatError::Store { .. } => "check the file, its permissions and free space",
        ChatError::Interrupted { .. } | ChatError::Timeout { .. } => {
            "try again later, or ask without a model; the call may have cost something, and the next command makes it \
             again"
        }
        ChatError::RateLimited { .. }
        | ChatError::Server { .. }
        | ChatError::Unreachable { .. }
        | ChatError::CircuitOpen { .. } => "try again later, or ask without a model",
        ChatError::Useless { .. } => {
            "see what it says (`cairn doctor --probe --model …` tries each task), then try again, with \
             `--retry-failed` for passages without questions; or try another model"
        }
        ChatError::TooLarge { .. } | ChatError::Malformed { .. } | ChatError::Vectors { .. } => {
            "try another model, or ask without one; the call may have cost something"
        }
        ChatError::Refused { .. } => "try another model, or ask without one",
        ChatError::Truncated { .. } => {
            "if the model thinks before it replies, give it more room with `model.thinking_tokens` in your own \
             configuration; otherwise try another, or ask without one"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_little_memory_is_distinguished_from_other_refusals() {
        let refused = |kind: io::ErrorKind| hint(&Error::io("open", "graph.bin")(io::Error::from(kind))).unwrap();
        assert!(refused(io::ErrorKind::OutOfMemory).contains("memory"));
        assert!(refused(io::ErrorKind::PermissionDenied).contains("permissions"));
        assert!(refused(io::ErrorKind::NotFound).contains("path"));
    }

    #[test]
    fn a_link_or_a_pipe_in_the_place_of_our_own_is_to_be_moved() {
        let misplaced = |needed| Error::Misplaced { path: "versions".into(), found: "a link", needed };
        assert!(hint(&misplaced("a folder")).unwrap().contains("--index DIR"));
        assert!(hint(&misplaced("a file")).unwrap().contains("cairn index"));
    }

    #[test]
    fn hints_distinguish_lost_records_from_derived_files() {
        let damaged = |path: &str| Error::Corrupt { path: path.into(), reason: String::new() };
        assert!(hint(&damaged(".cairn/cairn.db")).unwrap().contains("cairn check"));
        assert!(hint(&damaged(".cairn/replies.db")).unwrap().contains("remove the file"));
        assert!(hint(&damaged(".cairn/versions/1/graph.bin")).unwrap().contains("cairn index"));
    }
}
