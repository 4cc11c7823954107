//! A search for a sub-question or an entity, within its share of the time. If it fails, the results for the question
//! stand, and the ledger says why.

use std::fmt;

use crate::error::Result;
use crate::query::session::Session;

/// Why a search gave nothing.
pub(in crate::query) struct Missed {
    /// For the ledger.
    pub(in crate::query) problem: String,
    /// Whether the time is over, so that another search gives nothing either.
    pub(in crate::query) is_late: bool,
}

/// Returns the result of the search for `what`, or why it failed.
///
/// # Cancel safety
///
/// That of the search.
pub(in crate::query) async fn searched<T>(
    session: &Session,
    what: impl fmt::Display,
    search: impl Future<Output = Result<T>>,
) -> Result<T, Missed> {
    match session.in_time(search).await {
        Some(Ok(found)) => Ok(found),
        Some(Err(error)) => {
            Err(Missed { problem: format!("{what} could not be searched for: {error}"), is_late: false })
        }
        None => Err(Missed { problem: format!("{what} could not be searched for in time"), is_late: true }),
    }
}
