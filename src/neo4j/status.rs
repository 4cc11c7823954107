//! The status of the index in a database.

use serde::Serialize;

use super::session::Session;
use super::state::{IndexState, Phase};
use super::statement::{Statement, cypher};
use crate::domain::{CollectionId, Counts, DatabaseError};
use crate::error::Result;

/// The status of the index in a database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GraphStatus {
    /// The collection that it is an index of, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection: Option<CollectionId>,
    /// The version of the graph.
    pub version: u64,
    /// The format of the graph.
    pub format: u64,
    /// When the version was published, in UTC; none if it was imported, or published by an earlier program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The program that published it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The embedder that made its vectors.
    pub embedder: String,
    /// Whether elements retired by earlier versions are gone, so that any tool sees only this version.
    pub is_whole: bool,
    /// How much the version holds.
    pub counts: Counts,
    /// The version of the server.
    pub server: String,
}

/// Returns what a database says of the index that it holds.
///
/// # Errors
///
/// [`Error::Database`](crate::Error::Database) if there is no index, or it cannot be read.
///
/// # Cancel safety
///
/// Safe: nothing is changed.
pub async fn status(session: &Session) -> Result<GraphStatus> {
    let state = IndexState::read(session).await?.ok_or_else(|| session.error(DatabaseError::NoIndex))?;
    let rows = session.rows(&Statement::new("read the index", cypher!("read/published"))).await?;
    let text = |name| rows.first().and_then(|row| row.get::<Option<String>>(name).ok().flatten());
    let server = session.rows(&Statement::new("ask for the version", cypher!("read/server"))).await?;
    let server = server.first().map(|row| {
        let part = |name| row.get::<String>(name).unwrap_or_default();
        format!("{} {}", part("version"), part("edition"))
    });
    Ok(GraphStatus {
        collection: state.collection,
        version: state.version.cast_unsigned(),
        format: state.format.cast_unsigned(),
        published: text("published"),
        program: text("program"),
        embedder: state.embedder,
        is_whole: state.phase == Phase::Whole,
        counts: state.counts,
        server: server.unwrap_or_default(),
    })
}
