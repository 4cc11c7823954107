//! What can go wrong with the graph database that an index is published to.

use super::CollectionId;

/// Why a graph database cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The address is none.
    #[error("it is no address of a server: {reason}")]
    Address {
        /// What is wrong with it.
        reason: String,
    },
    /// Nobody answers there, or the connection was cut and did not come back.
    #[error("it cannot be reached: {reason}")]
    Unreachable {
        /// What the last attempt met.
        reason: String,
    },
    /// The certificate that the server shows is not to be trusted.
    #[error("its certificate is not trusted: {reason}")]
    Certificate {
        /// What is wrong with it.
        reason: String,
    },
    /// Whoever answers there does not speak as was asked: encrypted, or not.
    #[error("it cannot be reached: it ends the connection at the first word: {reason}")]
    Encryption {
        /// What the attempt met.
        reason: String,
    },
    /// User or password are wrong.
    #[error("it refuses the user or the password: {reason}")]
    Password {
        /// What the server said.
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
        /// The oldest version that would do.
        least: String,
    },
    /// Nothing may be written there.
    #[error("it takes no writes: {reason}")]
    ReadOnly {
        /// What the server said.
        reason: String,
    },
    /// The database holds something else.
    #[error("the database holds {nodes} nodes and no index of Cairn")]
    Foreign {
        /// How many nodes there are.
        nodes: u64,
    },
    /// The database holds an index of another collection, or one of which more than half of the documents would go.
    #[error("{}", replaced([*documents, *gone, *given_documents], held.as_ref(), given))]
    OtherIndex {
        /// How many documents it holds.
        documents: u64,
        /// How many of them would go.
        gone: u64,
        /// The collection there; none where an earlier program published it.
        held: Option<CollectionId>,
        /// How many documents the index has that was to be published.
        given_documents: u64,
        /// Its collection.
        given: CollectionId,
    },
    /// Constraints or indexes of a user's own keep Cairn from writing, or from making its own.
    #[error("constraints or indexes that are not Cairn's are in the way: {names}")]
    InTheWay {
        /// Their names, with what they cover.
        names: String,
    },
    /// The database holds no index.
    #[error("the database holds no index of Cairn")]
    NoIndex,
    /// The index in the database has a newer format, or one that was changed.
    #[error("the index in the database has {found}; this program knows {known}")]
    Format {
        /// What was found.
        found: String,
        /// What would do.
        known: String,
    },
    /// The index in the database has an earlier format, which is not read any more.
    #[error("the index in the database has {found}; this program reads {known}")]
    Earlier {
        /// What was found.
        found: String,
        /// What would do.
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
    /// Constraints or indexes are not there or do not work.
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
        /// Who, as far as that is known.
        owner: String,
        /// How long its right to publish lasts unless it goes on.
        seconds: u64,
    },
    /// Another publisher took over.
    #[error("another publisher took the database over")]
    Overtaken,
    /// The version that was read changed too often.
    #[error("a new version was published during each of {attempts} attempts to read one")]
    Changing {
        /// How often reading was tried.
        attempts: u32,
    },
    /// The server has too little memory for the smallest batch.
    #[error("it has too little memory for a transaction: {reason}")]
    Memory {
        /// What the server said.
        reason: String,
    },
    /// What is in the database is not what was published.
    #[error("the index in the database is damaged: {reason}")]
    Damaged {
        /// What is wrong with it.
        reason: String,
    },
    /// The server had a fault of its own.
    #[error("it had a fault of its own when it was to {action}: {code}: {message}")]
    Fault {
        /// What was tried.
        action: &'static str,
        /// The server's code of the error.
        code: String,
        /// What the server said.
        message: String,
    },
    /// The server refused a statement.
    #[error("it refused to {action}: {code}: {message}")]
    Statement {
        /// What was tried.
        action: &'static str,
        /// The server's code of the error.
        code: String,
        /// What the server said.
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
        "it holds an index {there} with {documents} documents, of which {gone} would go; this one has \
         {given_documents}, of the collection `{given}`"
    )
}
