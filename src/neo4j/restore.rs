//! Repairs that need nothing but the database itself: the format, constraints and indexes.

use super::lease::{Lease, Owner};
use super::migrate::{self, Applied, earlier};
use super::session::Session;
use super::state::IndexState;
use super::target::Target;
use crate::domain::DatabaseError;
use crate::error::{ErrorKind, Result};

/// What was made good.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// Whether the graph was of an earlier format and was brought to this one.
    pub is_converted: bool,
    /// Names of the constraints and indexes that were made again.
    pub made: Vec<String>,
}

/// Makes good what no index on disk is needed for: brings a graph of an earlier format to this one, makes constraints
/// and indexes again that are missing, and waits until these are filled.
///
/// # Errors
///
/// [`Error::Database`](crate::Error::Database) with what the matter is: no index, another publisher at work,
/// constraints or indexes of a user's own in the way.
///
/// # Cancel safety
///
/// What was made stays; called again, it goes on from there, after half a minute at most.
pub async fn restore(target: &Target) -> Result<Restored> {
    let session = Session::connect(target).await?;
    let (applied, owner) = (migrate::applied(&session).await?, Owner::of_process());
    if earlier::is_there(&session).await? {
        let lease = take_over(&session, owner, &applied).await?;
        return Ok(Restored { is_converted: true, made: finish(&session, lease, &Applied::default()).await? });
    }
    let dimension = dimension(&session).await?;
    migrate::refuse_others(&session, dimension).await?;
    let lease = Lease::take(&session, owner).await?;
    Ok(Restored { is_converted: false, made: finish(&session, lease, &applied).await? })
}

async fn take_over(session: &Session, owner: Owner, applied: &Applied) -> Result<Lease> {
    // Of one that was left on the way, the index has this format already.
    let state = match earlier::state(session).await? {
        None => IndexState::read(session).await?,
        state => state,
    };
    let dimension = state.ok_or_else(|| session.error(DatabaseError::NoIndex))?.dimension;
    earlier::refuse_others(session, dimension).await?;
    let lease = earlier::take_over(session, owner).await?;
    migrate::prepare(session, applied, dimension).await?;
    Ok(lease)
}

/// Makes what is missing under a lease, and gives that back. Returns what was made again.
async fn finish(session: &Session, lease: Lease, applied: &Applied) -> Result<Vec<String>> {
    let made = make(session, applied).await;
    // Where nobody answers, the lease ends by itself; nobody waits for that twice.
    if made.as_ref().err().is_none_or(|error| error.kind() != ErrorKind::Unavailable) {
        lease.give_back().await;
    }
    made
}

async fn make(session: &Session, applied: &Applied) -> Result<Vec<String>> {
    let dimension = dimension(session).await?;
    let missing = migrate::wrong(session, applied, dimension).await?.missing;
    migrate::restore(session, applied, dimension).await?;
    // Those too that a publish which was broken off had not come to yet.
    migrate::make_indexes(session, dimension).await?;
    migrate::wait_for_all(session, dimension).await?;
    Ok(missing.into_iter().map(str::to_owned).collect())
}

async fn dimension(session: &Session) -> Result<usize> {
    let state = IndexState::read(session).await?.ok_or_else(|| session.error(DatabaseError::NoIndex))?;
    Ok(state.dimension)
}
