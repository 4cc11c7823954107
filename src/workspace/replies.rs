//! Replies of language models that were paid for, in a file of their own beside the records: losing it costs money and
//! nothing else, and it is no part of what an index is.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _};

use crate::error::{Error, Result};
use crate::store::ReplyStore;

/// `CaRp` in ASCII: tells kept replies from other databases.
const APPLICATION_ID: i32 = 0x4361_5270;
/// Replies that are kept; beyond, the oldest go.
const REPLIES_MAX: i64 = 100_000;
/// How long one process waits for another that holds the file for a moment.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Replies that are kept in a file.
pub struct Replies {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl Replies {
    /// Opens the replies in a file, or makes it: only its owner may read it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be made, [`Error::Corrupt`] if it holds something else.
    pub fn open(path: &Path) -> Result<Self> {
        let mut options = File::options();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path).map_err(Error::io("open", path))?;
        let connection = prepared(path).map_err(|error| damaged(path, &error))?;
        let id: i32 = connection
            .pragma_query_value(None, "application_id", |row| row.get(0))
            .map_err(|error| damaged(path, &error))?;
        if id != APPLICATION_ID {
            return Err(Error::Corrupt { path: path.to_owned(), reason: "it holds something else".to_owned() });
        }
        Ok(Self { path: path.to_owned(), connection: Mutex::new(connection) })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn prepared(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let tables: i64 = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        transaction.execute_batch(include_str!("replies.sql"))?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    transaction.commit()?;
    Ok(connection)
}

fn damaged(path: &Path, error: &rusqlite::Error) -> Error {
    Error::Corrupt { path: path.to_owned(), reason: error.to_string() }
}

impl ReplyStore for Replies {
    fn get(&self, key: &[u8; 32]) -> Result<Option<String>> {
        let connection = self.connection();
        let found = connection.query_row("SELECT reply FROM replies WHERE key = ?1", [key], |row| row.get(0));
        found.optional().map_err(|error| damaged(&self.path, &error))
    }

    fn put(&self, key: &[u8; 32], reply: &str) -> Result<()> {
        let mut connection = self.connection();
        let write = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            transaction.execute("INSERT OR IGNORE INTO replies (key, reply) VALUES (?1, ?2)", (key, reply))?;
            let last = transaction.last_insert_rowid();
            transaction.execute("DELETE FROM replies WHERE number <= ?1", [last - REPLIES_MAX])?;
            transaction.commit()
        };
        write(&mut connection).map_err(Error::records("write"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_there_again_when_the_file_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.db");
        let replies = Replies::open(&path).unwrap();
        let other = Replies::open(&path).unwrap();
        replies.put(&[1; 32], "A.").unwrap();
        other.put(&[1; 32], "another").unwrap();
        assert_eq!(other.get(&[1; 32]).unwrap().as_deref(), Some("A."));
        drop((replies, other));
        let replies = Replies::open(&path).unwrap();
        assert_eq!(replies.get(&[1; 32]).unwrap().as_deref(), Some("A."));
        assert_eq!(replies.get(&[2; 32]).unwrap(), None);
    }

    #[test]
    fn a_file_that_holds_something_else_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.db");
        std::fs::write(&path, "something else, long enough to be read as the head of a database".repeat(20)).unwrap();
        assert!(matches!(Replies::open(&path), Err(Error::Corrupt { .. })));
        std::fs::remove_file(&path).unwrap();
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE mine (a)").unwrap();
        assert!(matches!(Replies::open(&path), Err(Error::Corrupt { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_may_read_the_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.db");
        let _replies = Replies::open(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
