//! Reading one version: what is read is whole, or it is read again.
//!
//! The database isolates no statement from what others commit meanwhile. So the version is read before and after, each
//! time behind a lock that a switch holds too: where it is the same, nothing that was read changed in between.

use std::time::Duration;

use neo4rs::Row;

use super::session::Session;
use super::statement::{Statement, cypher};
use crate::domain::{DatabaseError, IndexVersion};
use crate::error::{Error, Result};

/// How often a version is tried to be read.
const ATTEMPTS_MAX: u32 = 8;
/// How long to wait after an attempt that a switch disturbed.
const PAUSE: Duration = Duration::from_millis(50);

/// A statement, and what is done with each of its rows.
pub(super) type Visit<'a> = &'a mut (dyn FnMut(&Row) -> Result<()> + Send);

/// Reads of one version.
pub(super) struct Reading<'a> {
    session: &'a Session,
    pub(super) version: i64,
}

impl Reading<'_> {
    /// Calls `visit` with every row of a statement that is filtered by version.
    pub(super) async fn rows(&self, action: &'static str, text: &'static str, visit: Visit<'_>) -> Result<()> {
        let statement = Statement::new(action, text).with("version", self.version);
        self.session.for_each_row(&statement, visit).await
    }
}

/// Returns what `read` makes of one version, and the version.
pub(super) async fn read_whole<T>(
    session: &Session,
    mut read: impl AsyncFnMut(&Reading<'_>) -> Result<T>,
) -> Result<(IndexVersion, T)> {
    let mut attempt = 0;
    loop {
        let version = version(session).await?;
        let found = read(&Reading { session, version }).await;
        if self::version(session).await? == version {
            return Ok((IndexVersion(version.cast_unsigned()), found?));
        }
        attempt += 1;
        if attempt == ATTEMPTS_MAX {
            return Err(session.error(DatabaseError::Changing { attempts: attempt }));
        }
        tokio::time::sleep(PAUSE * attempt).await;
    }
}

async fn version(session: &Session) -> Result<i64> {
    let locked = session.rows(&Statement::new("read the version", cypher!("read/version"))).await;
    let rows = match locked {
        Err(Error::Database { source: DatabaseError::ReadOnly { .. }, .. }) => {
            session.rows(&Statement::new("read the version", cypher!("read/version-unlocked"))).await?
        }
        locked => locked?,
    };
    let row = rows.first().ok_or_else(|| session.error(DatabaseError::NoIndex))?;
    row.get("version").map_err(|_| session.damaged("its `:Index` node has no `version`"))
}
