//! Errors of the graph database to which an index is published.

use super::CollectionId;

/// Why a graph database cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The address is invalid.
    #[error("it is not a server address: {reason}")]
    Address {
        /// Its fault.
        reason: String,
    },
    /// The server does not respond, or the connection was cut and could not be restored.
    #[error("it cannot be reached: {reason}")]
    Unreachable {
        /// The error of the last attempt.
        reason: String,
    },
    /// The certificate of the server is not trusted.
    #[error("its certificate is not trusted: {reason}")]
    Certificate {
        /// Its fault.
        reason: String,
    },
    /// The server does not speak the requested protocol: encrypted, or unencrypted.
    #[error("it cannot be reached: it closes the connection at once: {reason}")]
    Encryption {
        /// The error of the attempt.
        reason: String,
    },
    /// The user or the password is wrong.
    #[error("it refuses the user or the password: {reason}")]
    Password {
        /// The server's message.
        reason: String,
    },
    /// The server has no database of that name.
    #[error("it has no database `{name}`")]
    NoDatabase {
        /// The name.
        name: String,
    },
    /// The server is too old.
    #[error("it is Neo4j {found}; {least} or later is needed")]
    TooOld {
        /// Its version.
        found: String,
        /// The oldest supported version.
        least: String,
    },
    /// Writing is not permitted.
    #[error("it does not accept writes: {reason}")]
    ReadOnly {
        /// The server's message.
        reason: String,
    },
    /// The database holds something else.
    #[error("the database holds {nodes} nodes and no index of Cairn")]
    Foreign {
        /// How many nodes there are.
        nodes: u64,
    },
    /// The database holds an index of another collection, or one that would lose more than half of its documents.
    #[error("{}", replaced([*documents, *gone, *given_documents], held.as_ref(), given))]
    OtherIndex {
        /// How many documents it holds.
        documents: u64,
        /// How many of them would be removed.
        gone: u64,
        /// The collection there; none if an earlier version of Cairn published it.
        held: Option<CollectionId>,
        /// How many documents the index to be published has.
        given_documents: u64,
        /// Its collection.
        given: CollectionId,
    },
    /// Constraints or indexes of the user prevent Cairn from writing or from creating its own.
    #[error("constraints or indexes that are not Cairn's conflict with those of Cairn: {names}")]
    Conflict {
        /// Their names, with what they cover.
        names: String,
    },
    /// The database holds no index.
    #[error("the database holds no index of Cairn")]
    NoIndex,
    /// The index in the database has a newer format, or one that was changed.
    #[error("the index in the database has {found}; this program knows {known}")]
    Format {
        /// The value found.
        found: String,
        /// What this program supports.
        known: String,
    },
    /// The index in the database has an earlier format, which is no longer read.
    #[error("the index in the database has {found}; this program reads {known}")]
    Earlier {
        /// The value found.
        found: String,
        /// What this program supports.
        known: String,
    },
    /// The index in the database has vectors of another embedder.
    #[error("its vectors are from `{held}`; this index has those of `{given}`")]
    Embedder {
        /// The embedder of the index in the database, with its dimension.
        held: String,
        /// The embedder of the index that was to be published, with its dimension.
        given: String,
    },
    /// Constraints or indexes are missing or do not work.
    #[error("constraints or indexes are missing: {names}")]
    Schema {
        /// Their names.
        names: String,
    },
    /// The server could not fill indexes.
    #[error("the graph is published, but indexes could not be filled: {names}")]
    Unfilled {
        /// Their names.
        names: String,
    },
    /// Another process publishes to the database.
    #[error("another publisher is at work in the database: {owner}, with a lease of {seconds} s, which it renews")]
    Publishing {
        /// The publisher, if known.
        owner: String,
        /// How long its lease lasts unless it is renewed.
        seconds: u64,
    },
    /// Another publisher took over.
    #[error("another publisher has taken over the database")]
    Overtaken,
    /// The version changed during every attempt to read it.
    #[error("a new version was published during each of {attempts} attempts to read one")]
    Changing {
        /// The number of attempts.
        attempts: u32,
    },
    /// The server has too little memory for the smallest batch.
    #[error("it has too little memory for a transaction: {reason}")]
    Memory {
        /// The server's message.
        reason: String,
    },
    /// The contents of the database are not what was published.
    #[error("the index in the database is damaged: {reason}")]
    Damaged {
        /// Its fault.
        reason: String,
    },
    /// The server had an internal fault.
    #[error("it had an internal fault when asked to {action}: {code}: {message}")]
    Fault {
        /// The action that failed.
        action: &'static str,
        /// The server's code of the error.
        code: String,
        /// The server's message.
        message: String,
    },
    /// The server refused a statement.
    #[error("it refused to {action}: {code}: {message}")]
    Statement {
        /// The action that failed.
        action: &'static str,
        /// The server's code of the error.
        code: String,
        /// The server's message.
        message: String,
    },
}

/// Says what publishing would replace.
fn replaced([documents, gone, given_documents]: [u64; 3], held: Option<&CollectionId>, given: &CollectionId) -> String {
    let there = match held {
        Some(held) if held == given => "of the same collection".to_owned(),
        Some(held) => format!("of another collection, `{held}`,"),
        None => "that names no collection".to_owned(),
    };
    format!(
        "it holds an index {there} with {documents} documents, {gone} of which would be removed; this one has \
        {given_documents}, of the collection `{given}`"
    )
}
