//! Repairs that need only the database: constraints and indexes.

use super::lease::{Lease, Owner};
use super::schema;
use super::session::Session;
use super::state::IndexState;
use super::target::Target;
use crate::error::{ErrorKind, Result};

/// Recreates missing constraints and indexes, waits until they are filled, and returns their names.
///
/// # Errors
///
/// [`Error::Database`](crate::Error::Database) with the cause: no index, another publisher at work, conflicting
/// constraints or indexes of a user's own.
///
/// # Cancel safety
///
/// Finished work stays; called again, it continues from there, after half a minute at most.
pub async fn restore(target: &Target) -> Result<Vec<String>> {
    let session = Session::connect(target).await?;
    let dimension = IndexState::read_current(&session).await?.dimension;
    schema::refuse_others(&session, dimension).await?;
    let lease = Lease::take(&session, Owner::of_process()).await?;
    let made = make(&session, dimension).await;
    // Where nobody answers, the lease ends by itself; nobody waits for that twice.
    if made.as_ref().err().is_none_or(|error| error.kind() != ErrorKind::Unavailable) {
        lease.give_back().await;
    }
    made
}

async fn make(session: &Session, dimension: usize) -> Result<Vec<String>> {
    let missing = schema::wrong(session, dimension).await?.missing;
    schema::make_keys(session).await?;
    schema::make_all(session, dimension, &|| Ok(())).await?;
    Ok(missing.into_iter().map(str::to_owned).collect())
}
