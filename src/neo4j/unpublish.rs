//! Deletes an index from a database: only what is ours.

use neo4rs::Row;
use serde::Serialize;

use super::kinds::{DELETE_NODES, OF_OURS};
use super::lease::{Lease, Owner};
use super::schema;
use super::session::Session;
use super::state::IndexState;
use super::statement::{Statement, cypher};
use crate::domain::{CollectionId, DatabaseError};
use crate::error::Result;

/// Nodes that are deleted in one transaction.
const NODES_MAX: i64 = 2_000;

/// The elements that would be deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Unpublishing {
    /// The collection that is published there, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection: Option<CollectionId>,
    /// Nodes of ours.
    pub nodes: u64,
    /// Relationships of ours.
    pub relationships: u64,
    /// Relationships of others' that hang on nodes of ours, and go with them.
    pub detached: u64,
    /// Nodes of others', which stay.
    pub kept: u64,
}

/// Returns what [`unpublish`] would delete.
///
/// # Errors
///
/// [`Error::Database`](crate::Error::Database) if there is nothing of ours, or it cannot be read.
///
/// # Cancel safety
///
/// Safe: nothing is changed.
pub async fn to_unpublish(session: &Session) -> Result<Unpublishing> {
    let rows = session.rows(&Statement::new("count what is there", OF_OURS.as_str())).await?;
    let count = |name| rows.first().and_then(|row: &Row| row.get::<i64>(name).ok()).unwrap_or_default().cast_unsigned();
    let [nodes, relationships, detached, kept] = ["nodes", "relationships", "detached", "kept"].map(count);
    if nodes == 0 {
        return Err(session.error(DatabaseError::NoIndex));
    }
    let collection = IndexState::read(session).await?.and_then(|state| state.collection);
    Ok(Unpublishing { collection, nodes, relationships, detached, kept })
}

/// Deletes all that is ours: nodes, relationships, constraints and indexes.
///
/// From the first moment on, readers find no index. If it is interrupted, the next call continues, and so does a
/// publish.
///
/// # Errors
///
/// [`Error::Database`](crate::Error::Database) with the cause: another publisher at work, no permission.
///
/// # Cancel safety
///
/// Deleted elements stay deleted; called again, it continues from there, after half a minute at most.
pub async fn unpublish(session: &Session) -> Result<()> {
    let mut lease = Lease::take(session, Owner::of_process()).await?;
    lease.write(vec![Statement::new("delete the index", cypher!("retire/index"))]).await?;
    loop {
        let statement = Statement::new("delete the graph", DELETE_NODES.as_str()).with("limit", NODES_MAX);
        let deleted = lease.batch(vec![statement]).send().await?;
        if deleted.is_some_and(|counts| counts.first().is_none_or(|count| *count <= 0)) {
            break;
        }
    }
    schema::drop_all(session).await?;
    lease.write(vec![Statement::new("delete the lease", cypher!("retire/publisher"))]).await
}
