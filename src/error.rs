//! The errors of the library, and what a caller can do about them.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::domain::{ChatError, DatabaseError};

/// A result with this library's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller can do about an [`Error`]; each has its own exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input, an option or a question cannot be used as it is: change it.
    Input,
    /// There is no index at that place: make one.
    NoIndex,
    /// Another process writes the index: wait for it.
    Busy,
    /// The index has another format or embedder: use the one that made it, or index again.
    Incompatible,
    /// Part of the index is missing or damaged: index again.
    Corrupt,
    /// The operating system refused: permissions, space.
    Io,
    /// A server cannot be reached, or gives nothing usable: fix that, then try again.
    Unavailable,
    /// The deadline has passed: allow more time, or find out what is slow.
    Deadline,
    /// A stop was requested; finished work is kept.
    Cancelled,
    /// A fault of this program.
    Internal,
}

/// Everything that this library's functions return as an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path to be indexed does not exist.
    #[error("there is no file or folder `{}`", path.display())]
    MissingPath {
        /// The path as it was given.
        path: PathBuf,
    },
    /// The sources hold no document that can be read.
    #[error("no document found in {sources}")]
    NoDocuments {
        /// The sources, in backticks.
        sources: String,
    },
    /// A question or query cannot be asked.
    #[error("{reason}")]
    Question {
        /// Why.
        reason: String,
    },
    /// Nothing in the index has this name.
    #[error("nothing in the index is called `{name}`{}", listed("; similar names are", near))]
    Unknown {
        /// The name as it was given.
        name: String,
        /// Names that begin similarly, the most similar first.
        near: Vec<String>,
    },
    /// Several documents have this title.
    #[error("several documents are called `{name}`{}", listed(": those with the ids", among))]
    Ambiguous {
        /// The title as it was given.
        name: String,
        /// The ids that their source gives some of them.
        among: Vec<String>,
    },
    /// An option has a value that cannot be used.
    #[error("`{value}` is not a valid {option}: {reason}")]
    Option {
        /// The name of the option.
        option: &'static str,
        /// The value as it was given.
        value: String,
        /// The allowed values.
        reason: String,
    },
    /// No database is named.
    #[error("no database is named")]
    NoDatabase,
    /// Something needs a graph in memory that Neo4j walks.
    #[error("{needed} needs the graph in memory, but Neo4j walks this one")]
    WalkedByNeo4j {
        /// What needs it.
        needed: String,
    },
    /// The configuration file cannot be used.
    #[error("the settings in `{}` cannot be used: {reason}", path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A configuration file found in the current folder sets what only the user may set.
    #[error("`{}`, line {line}: `{key}` {reason}", path.display())]
    FoundSettings {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The key.
        key: String,
        /// Why it may not be set there.
        reason: &'static str,
    },
    /// A line of a questions file, or of another input file, cannot be used.
    #[error("`{}`, line {line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        reason: String,
    },
    /// There is no index at that place.
    #[error("there is no index at `{}`", path.display())]
    NoIndex {
        /// The folder.
        path: PathBuf,
    },
    /// No run over the index at that place was finished yet.
    #[error("the index at `{}` has no finished version yet", path.display())]
    NoVersion {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds something else.
    #[error("`{}` is not an index: {reason}", path.display())]
    NotAnIndex {
        /// The folder.
        path: PathBuf,
        /// Why it is not an index.
        reason: String,
    },
    /// Another process writes the index.
    #[error("another run is writing the index at `{}`", path.display())]
    Busy {
        /// The folder of the index.
        path: PathBuf,
    },
    /// The index has no communities: an earlier release made it.
    #[error("this index has no topics yet: an earlier release of Cairn made it")]
    NoTopics,
    /// The index has a format that this program does not read.
    #[error("the index at `{}` has format {found}; this program reads format {supported}", path.display())]
    Format {
        /// The folder of the index.
        path: PathBuf,
        /// The format of the index.
        found: u32,
        /// The format of this program.
        supported: u32,
    },
    /// The index was made with another embedder.
    #[error("the index was made with the embedder `{index}`; `{given}` was requested")]
    Embedder {
        /// The embedder that the index is pinned to.
        index: String,
        /// The embedder that was given.
        given: String,
    },
    /// An embedder returned an invalid vector.
    #[error("the embedder `{embedder}` returned a vector that cannot be used")]
    Embedding {
        /// The embedder.
        embedder: String,
        /// What is wrong with it.
        source: crate::domain::EmbeddingError,
    },
    /// The library that runs local models cannot be used.
    #[error("ONNX Runtime cannot be used")]
    Runtime {
        /// Why not.
        source: crate::domain::RuntimeError,
    },
    /// A local model cannot be used.
    #[error("the model in `{}` cannot be used", path.display())]
    Model {
        /// The folder of the model.
        path: PathBuf,
        /// Why not.
        source: crate::domain::ModelError,
    },
    /// The model that an index needs is not where it was when the index was made.
    #[error("the index needs the model `{embedder}`, which was not found")]
    ModelGone {
        /// The embedder that the index is pinned to.
        embedder: String,
    },
    /// The index names a server that the user has not confirmed; nothing was sent to it.
    #[error(
        "the index names the embedder `{embedder}` at `{url}`, which you have not confirmed: nothing was sent there"
    )]
    Unconfirmed {
        /// The embedder that the index is pinned to.
        embedder: String,
        /// Its address according to the index.
        url: String,
    },
    /// Part of the index is missing or damaged.
    #[error("the index is damaged: `{}`: {reason}", path.display())]
    Corrupt {
        /// The part.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Something else is in the place of a file or folder of the index, or of a file to be read.
    #[error("`{}` is {found}; {needed} has to be there", path.display())]
    Misplaced {
        /// The place.
        path: PathBuf,
        /// What is there.
        found: &'static str,
        /// What has to be there.
        needed: &'static str,
    },
    /// Something that is not part of an index is where a version is to be written.
    #[error("`{}` is not part of an index, and stands where a version is to be written", path.display())]
    Foreign {
        /// What is there.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The records cannot be read or written.
    #[error("cannot {action} the records of the index")]
    Records {
        /// What was tried.
        action: &'static str,
        /// What the database said.
        source: rusqlite::Error,
    },
    /// The text index cannot be read or written.
    #[error("cannot {action} the text index")]
    TextIndex {
        /// What was tried.
        action: &'static str,
        /// What the text index said.
        source: tantivy::TantivyError,
    },
    /// The graph database cannot be used.
    #[error("Neo4j at `{server}` cannot be used")]
    Database {
        /// The server as it was given, without secrets.
        server: String,
        /// Why not.
        source: DatabaseError,
    },
    /// A language model cannot be used.
    #[error("the model `{model}` cannot be used")]
    Chat {
        /// The model.
        model: String,
        /// Why not.
        source: ChatError,
    },
    /// An embedder behind a server cannot be used.
    #[error("the embedder `{embedder}` cannot be used")]
    EmbedderServer {
        /// The embedder.
        embedder: String,
        /// Why not.
        source: ChatError,
    },
    /// A reranker behind a server cannot be used.
    #[error("the reranker `{reranker}` cannot be used")]
    RerankerServer {
        /// The reranker.
        reranker: String,
        /// Why not.
        source: ChatError,
    },
    /// The web cannot be searched, because the search is not in a recording or cannot be written into one. (A server
    /// that cannot be asked is no error: a note says so.)
    #[error("the web cannot be searched by `{server}`")]
    WebSearch {
        /// Who searches it.
        server: String,
        /// Why not.
        source: ChatError,
    },
    /// The index has documents that no version contains yet, or texts without vectors.
    #[error("the index at `{}` has changes that no version contains yet, or lacks vectors", path.display())]
    Unfinished {
        /// The folder of the index.
        path: PathBuf,
    },
    /// A question exceeded its deadline.
    #[error("no answer within {deadline:.1?}: gave up after {elapsed:.1?}, while {action}")]
    Deadline {
        /// What was being done.
        action: &'static str,
        /// The time allowed.
        deadline: Duration,
        /// The time taken.
        elapsed: Duration,
    },
    /// A stop was requested.
    #[error("stopped before the run was finished")]
    Cancelled,
    /// A fault of this program.
    #[error("internal error: {0}")]
    Internal(String),
}

impl Error {
    /// Returns what a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::MissingPath { .. }
            | Self::NoDocuments { .. }
            | Self::Question { .. }
            | Self::Unknown { .. }
            | Self::Ambiguous { .. }
            | Self::Option { .. }
            | Self::NoDatabase
            | Self::WalkedByNeo4j { .. }
            | Self::Line { .. }
            | Self::Settings { .. }
            | Self::FoundSettings { .. }
            | Self::Unconfirmed { .. }
            | Self::Runtime { .. }
            | Self::Model { .. }
            | Self::Unfinished { .. }
            | Self::Misplaced { .. }
            | Self::Foreign { .. }
            | Self::NotAnIndex { .. } => ErrorKind::Input,
            Self::NoIndex { .. } | Self::NoVersion { .. } => ErrorKind::NoIndex,
            Self::Busy { .. } => ErrorKind::Busy,
            Self::Database { source, .. } => database_kind(source),
            Self::Chat { source, .. }
            | Self::EmbedderServer { source, .. }
            | Self::RerankerServer { source, .. }
            | Self::WebSearch { source, .. } => chat_kind(source),
            Self::Format { .. } | Self::Embedder { .. } | Self::ModelGone { .. } | Self::NoTopics => {
                ErrorKind::Incompatible
            }
            Self::Corrupt { .. } => ErrorKind::Corrupt,
            Self::Io { .. } => ErrorKind::Io,
            Self::Records { source, .. } => records_kind(source),
            Self::TextIndex { source, .. } => text_index_kind(source),
            Self::Deadline { .. } => ErrorKind::Deadline,
            Self::Cancelled => ErrorKind::Cancelled,
            Self::Embedding { .. } | Self::Internal(_) => ErrorKind::Internal,
        }
    }

    /// Returns its message with those of its causes.
    pub(crate) fn with_causes(&self) -> String {
        let mut message = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(cause) = source {
            message = format!("{message}: {cause}");
            source = cause.source();
        }
        message
    }

    /// Returns whether there was too little memory; the data itself may be intact.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        match self {
            Self::Io { source, .. } => source.kind() == io::ErrorKind::OutOfMemory,
            Self::Records { source, .. } => is_out_of_memory(source),
            _ => false,
        }
    }

    /// Wraps an error of the operating system with what was tried on what.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }

    /// Wraps an error of the records with what was tried.
    pub(crate) fn records(action: &'static str) -> impl FnOnce(rusqlite::Error) -> Self {
        move |source| match source.sqlite_error_code() {
            // Nothing but a request to stop interrupts.
            Some(rusqlite::ErrorCode::OperationInterrupted) => Self::Cancelled,
            _ => Self::Records { action, source },
        }
    }

    /// Wraps an error of the text index with what was tried.
    pub(crate) fn text_index(action: &'static str) -> impl FnOnce(tantivy::TantivyError) -> Self {
        move |source| Self::TextIndex { action, source }
    }
}

/// Returns `items` in backticks behind `intro`; nothing where there are none.
fn listed(intro: &str, items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("`{item}`")).collect();
    if items.is_empty() { String::new() } else { format!("{intro} {}", items.join(", ")) }
}

const fn database_kind(error: &DatabaseError) -> ErrorKind {
    match error {
        DatabaseError::Address { .. }
        | DatabaseError::Certificate { .. }
        | DatabaseError::Password { .. }
        | DatabaseError::NoDatabase { .. }
        | DatabaseError::Foreign { .. }
        | DatabaseError::OtherIndex { .. }
        | DatabaseError::Conflict { .. } => ErrorKind::Input,
        DatabaseError::Unreachable { .. } | DatabaseError::Encryption { .. } => ErrorKind::Unavailable,
        DatabaseError::NoIndex => ErrorKind::NoIndex,
        DatabaseError::Publishing { .. } | DatabaseError::Overtaken | DatabaseError::Changing { .. } => ErrorKind::Busy,
        DatabaseError::TooOld { .. }
        | DatabaseError::Format { .. }
        | DatabaseError::Earlier { .. }
        | DatabaseError::Embedder { .. } => ErrorKind::Incompatible,
        DatabaseError::Schema { .. } | DatabaseError::Damaged { .. } => ErrorKind::Corrupt,
        DatabaseError::ReadOnly { .. }
        | DatabaseError::Memory { .. }
        | DatabaseError::Unfilled { .. }
        | DatabaseError::Fault { .. }
        | DatabaseError::Statement { .. } => ErrorKind::Io,
    }
}

const fn chat_kind(error: &ChatError) -> ErrorKind {
    match error {
        ChatError::Address { .. }
        | ChatError::Key { .. }
        | ChatError::Request { .. }
        | ChatError::Budget { .. }
        | ChatError::NoPrice { .. }
        | ChatError::NotRecorded { .. }
        | ChatError::VectorNotRecorded { .. }
        | ChatError::ScoreNotRecorded { .. }
        | ChatError::SearchNotRecorded { .. } => ErrorKind::Input,
        ChatError::Store { .. } => ErrorKind::Io,
        ChatError::RateLimited { .. }
        | ChatError::Server { .. }
        | ChatError::Unreachable { .. }
        | ChatError::Interrupted { .. }
        | ChatError::Timeout { .. }
        | ChatError::TooLarge { .. }
        | ChatError::Malformed { .. }
        | ChatError::Vectors { .. }
        | ChatError::Refused { .. }
        | ChatError::Truncated { .. }
        | ChatError::Useless { .. }
        | ChatError::CircuitOpen { .. } => ErrorKind::Unavailable,
    }
}

fn is_out_of_memory(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(code, Some(rusqlite::ffi::SQLITE_NOMEM | rusqlite::ffi::SQLITE_IOERR_NOMEM))
}

fn records_kind(error: &rusqlite::Error) -> ErrorKind {
    use rusqlite::ErrorCode;
    // A value that is not of the type that was written: a row was damaged.
    if let rusqlite::Error::FromSqlConversionFailure(..)
    | rusqlite::Error::IntegralValueOutOfRange(..)
    | rusqlite::Error::InvalidColumnType(..)
    | rusqlite::Error::Utf8Error(..) = error
    {
        return ErrorKind::Corrupt;
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Busy,
        // Where a row stands that must not be there, one that was known by another name is damaged.
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::ConstraintViolation) => {
            ErrorKind::Corrupt
        }
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::DiskFull
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::NoLargeFileSupport
            | ErrorCode::OutOfMemory
            | ErrorCode::PermissionDenied
            | ErrorCode::ReadOnly
            | ErrorCode::SystemIoFailure,
        ) => ErrorKind::Io,
        _ => ErrorKind::Internal,
    }
}

fn text_index_kind(error: &tantivy::TantivyError) -> ErrorKind {
    use tantivy::TantivyError;
    use tantivy::directory::error::{OpenDirectoryError, OpenReadError};
    match error {
        // The system refused: no memory, no more open files. That says nothing about the file.
        TantivyError::OpenReadError(OpenReadError::IoError { .. })
        | TantivyError::OpenDirectoryError(
            OpenDirectoryError::IoError { .. } | OpenDirectoryError::FailedToCreateTempDir(_),
        )
        | TantivyError::IoError(_)
        | TantivyError::OpenWriteError(_) => ErrorKind::Io,
        TantivyError::DataCorruption(_)
        | TantivyError::IncompatibleIndex(_)
        | TantivyError::OpenReadError(_)
        | TantivyError::OpenDirectoryError(_) => ErrorKind::Corrupt,
        _ => ErrorKind::Internal,
    }
}

#[cfg(test)]
mod tests;
