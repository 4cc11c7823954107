//! Reads one version consistently; an inconsistent read is repeated.
//!
//! The database does not isolate statements from concurrent commits. So the version is read before and after, each time
//! behind a lock that a switch also holds: if it is the same, the elements read did not change in between. There is one
//! exception: retired elements are marked before the switch, and while Neo4j moves the properties of an element to make
//! room for the mark, or deletes them after the switch, a read may miss some of them, including the mark. So data that
//! seems damaged or incomplete is read again.

use std::time::Duration;

use neo4rs::Row;

use super::session::Session;
use super::state::{GRAPH_FORMAT, IndexState};
use super::statement::{Statement, cypher};
use crate::domain::{DatabaseError, IndexVersion};
use crate::error::{Error, Result};

/// How often a version is tried to be read.
const ATTEMPTS_MAX: u32 = 8;
/// How often seemingly damaged data is read before it is reported.
const DAMAGED_MAX: u32 = 3;
/// How long to wait after an attempt that a switch disturbed.
const PAUSE: Duration = Duration::from_millis(50);

/// A statement, and a handler for each of its rows.
pub(super) type Visit<'a> = &'a mut (dyn FnMut(&Row) -> Result<()> + Send);

/// Reads of one version.
pub(super) struct Reading<'a> {
    session: &'a Session,
    pub(super) version: i64,
}

impl<'a> Reading<'a> {
    /// Starts reading the current version; [`Self::end`] says whether the read was consistent.
    pub(super) async fn begin(session: &'a Session) -> Result<Self> {
        Ok(Self { session, version: version(session).await? })
    }

    /// Returns the data, or none if it must be read again because another version became current.
    pub(super) async fn end<T>(self, found: Result<T>, attempt: u32) -> Result<Option<T>> {
        let may_be_torn = attempt < DAMAGED_MAX && found.as_ref().is_err_and(is_damaged);
        if version(self.session).await? == self.version && !may_be_torn {
            return found.map(Some);
        }
        if attempt == ATTEMPTS_MAX {
            return Err(self.session.error(DatabaseError::Changing { attempts: attempt }));
        }
        tokio::time::sleep(PAUSE * attempt).await;
        Ok(None)
    }

    /// Calls `visit` with every row of a statement that is filtered by version.
    pub(super) async fn rows(&self, action: &'static str, text: &'static str, visit: Visit<'_>) -> Result<()> {
        let statement = Statement::new(action, text).with("version", self.version);
        self.session.for_each_row(&statement, visit).await
    }
}

fn is_damaged(error: &Error) -> bool {
    matches!(error, Error::Database { source: DatabaseError::Damaged { .. }, .. })
}

/// Returns what `read` makes of one version, and the version.
pub(super) async fn read_whole<T>(
    session: &Session,
    mut read: impl AsyncFnMut(&Reading<'_>) -> Result<T>,
) -> Result<(IndexVersion, T)> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let reading = Reading::begin(session).await?;
        let (version, found) = (IndexVersion(reading.version.cast_unsigned()), read(&reading).await);
        if let Some(found) = reading.end(found, attempt).await? {
            return Ok((version, found));
        }
    }
}

/// Returns the version that is current.
async fn version(session: &Session) -> Result<i64> {
    Ok(current(session).await?.0)
}

/// Returns the current version, and a fingerprint of its publish.
pub(super) async fn current(session: &Session) -> Result<(i64, String)> {
    let locked = session.rows(&Statement::new("read the version", cypher!("read/version"))).await;
    let rows = match locked {
        Err(Error::Database { source: DatabaseError::ReadOnly { .. }, .. }) => {
            session.rows(&Statement::new("read the version", cypher!("read/version-unlocked"))).await?
        }
        locked => locked?,
    };
    let row = rows.first().ok_or_else(|| session.error(DatabaseError::NoIndex))?;
    if row.get::<i64>("format").is_ok_and(|format| format != GRAPH_FORMAT) {
        // The fault is reported when the rest is read.
        IndexState::read_current(session).await?;
    }
    let read = || Some((row.get("version").ok()?, row.get("source").ok()?));
    read().ok_or_else(|| session.damaged("its `:Index` node has no `version` or no `source`"))
}
