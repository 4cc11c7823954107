//! Replies of language models that were paid for, in a file of their own beside the records: losing it costs money and
//! nothing else, and it is no part of what an index is.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _};

use super::database;
use crate::error::{Error, Result};
use crate::files::{self, Readers};
use crate::store::ReplyStore;

/// `CaRp` in ASCII: tells kept replies from other databases.
const APPLICATION_ID: i32 = 0x4361_5270;
/// Replies that are kept; beyond, the oldest go.
const REPLIES_MAX: i64 = 100_000;
/// Keeps a reply; one that is kept already stays.
const INSERT: &str = "INSERT OR IGNORE INTO replies (key, reply) VALUES (?1, ?2)";
/// Keeps a reply in the place of the one that is kept.
const REPLACE: &str = "INSERT INTO replies (key, reply) VALUES (?1, ?2) \
     ON CONFLICT (key) DO UPDATE SET reply = excluded.reply";
/// Forgets the oldest beyond a number.
const FORGET_OLDEST: &str = "DELETE FROM replies WHERE number <= (SELECT max(number) FROM replies) - ?1";
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
        database::expect_files(path)?;
        files::append_own(path, Readers::Owner)?;
        Self::of(path, prepared(path))
    }

    /// Opens the replies in a file, to read them.
    ///
    /// # Errors
    ///
    /// [`Error::Records`] if the file is not there, [`Error::Corrupt`] if it holds something else.
    pub fn open_to_read(path: &Path) -> Result<Self> {
        database::expect_files(path)?;
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        Self::of(path, connection)
    }

    fn of(path: &Path, connection: rusqlite::Result<Connection>) -> Result<Self> {
        let connection = connection.map_err(|error| unread(path, error))?;
        let id: i32 = connection
            .pragma_query_value(None, "application_id", |row| row.get(0))
            .map_err(|error| unread(path, error))?;
        if id != APPLICATION_ID {
            return Err(Error::Corrupt { path: path.to_owned(), reason: "it holds something else".to_owned() });
        }
        Ok(Self { path: path.to_owned(), connection: Mutex::new(connection) })
    }

    /// Returns where they are.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the bytes of the file, as far as it can be looked at.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    /// Calls `visit` with the key and the text of every reply, in the order in which they were kept.
    ///
    /// # Errors
    ///
    /// Those of `visit`; [`Error::Corrupt`] if the file cannot be read.
    pub fn for_each(&self, visit: &mut dyn FnMut(&[u8; 32], &str) -> Result<()>) -> Result<()> {
        let connection = self.connection();
        let wrong = |error: rusqlite::Error| unread(&self.path, error);
        let mut statement = connection.prepare("SELECT key, reply FROM replies ORDER BY number").map_err(wrong)?;
        let mut rows = statement.query([]).map_err(wrong)?;
        while let Some(row) = rows.next().map_err(wrong)? {
            let key: [u8; 32] = row.get(0).map_err(wrong)?;
            let reply: String = row.get(1).map_err(wrong)?;
            visit(&key, &reply)?;
        }
        Ok(())
    }

    /// Keeps replies, all or none of them; one that is kept already stays. Returns how many are new.
    ///
    /// # Errors
    ///
    /// [`Error::Records`] if they cannot be written.
    pub fn add<'a>(&self, replies: impl IntoIterator<Item = (&'a [u8; 32], &'a str)>) -> Result<usize> {
        self.write(INSERT, replies)
    }

    fn write<'a>(&self, sql: &str, replies: impl IntoIterator<Item = (&'a [u8; 32], &'a str)>) -> Result<usize> {
        let mut connection = self.connection();
        let write = || {
            let transaction = connection.transaction()?;
            let mut added = 0;
            for (key, reply) in replies {
                added += transaction.execute(sql, (key, reply))?;
            }
            transaction.execute(FORGET_OLDEST, [REPLIES_MAX])?;
            transaction.commit()?;
            Ok(added)
        };
        write().map_err(Error::records("write"))
    }

    /// Forgets all replies, and returns how many there were.
    ///
    /// # Errors
    ///
    /// [`Error::Records`] if the file cannot be written.
    pub fn clear(&self) -> Result<usize> {
        let connection = self.connection();
        let clear = || {
            let count = connection.execute("DELETE FROM replies", [])?;
            connection.execute_batch("VACUUM")?;
            Ok(count)
        };
        clear().map_err(Error::records("write"))
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

/// Says that the file is damaged only where that is what the database says: a full disk, too little memory or another
/// process are no damage.
fn unread(path: &Path, error: rusqlite::Error) -> Error {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase, Unknown};
    match error.sqlite_error_code() {
        // Our statements are right: it is the file that does not fit them, or a value in it.
        None | Some(DatabaseCorrupt | NotADatabase | Unknown) => {
            Error::Corrupt { path: path.to_owned(), reason: error.to_string() }
        }
        Some(_) => Error::records("read")(error),
    }
}

impl ReplyStore for Replies {
    fn get(&self, key: &[u8; 32]) -> Result<Option<String>> {
        let connection = self.connection();
        let found = connection.query_row("SELECT reply FROM replies WHERE key = ?1", [key], |row| row.get(0));
        found.optional().map_err(|error| unread(&self.path, error))
    }

    fn put(&self, key: &[u8; 32], reply: &str) -> Result<()> {
        self.write(INSERT, [(key, reply)]).map(drop)
    }

    fn replace(&self, key: &[u8; 32], reply: &str) -> Result<()> {
        self.write(REPLACE, [(key, reply)]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

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
        for key in [[1; 32], [2; 32]] {
            replies.replace(&key, "anew").unwrap();
            assert_eq!(replies.get(&key).unwrap().as_deref(), Some("anew"));
        }
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

    #[test]
    fn what_is_no_damage_is_not_called_so() {
        use rusqlite::ffi::{
            Error as Code, SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_IOERR_FSYNC, SQLITE_NOMEM,
        };
        let kind = |code| {
            let error = unread(Path::new("replies.db"), rusqlite::Error::SqliteFailure(Code::new(code), None));
            assert!(error.hint().is_some() || error.kind() == ErrorKind::Busy, "{error}");
            error.kind()
        };
        assert_eq!(kind(SQLITE_CORRUPT), ErrorKind::Corrupt);
        assert_eq!(kind(SQLITE_BUSY), ErrorKind::Busy);
        for code in [SQLITE_FULL, SQLITE_IOERR_FSYNC, SQLITE_NOMEM] {
            assert_eq!(kind(code), ErrorKind::Io, "{code}");
        }
    }

    #[test]
    fn replies_are_listed_in_order_added_once_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let replies = Replies::open(&folder.path().join("replies.db")).unwrap();
        replies.put(&[2; 32], "B.").unwrap();
        assert_eq!(replies.add([(&[2; 32], "another"), (&[1; 32], "A.")]).unwrap(), 1);
        let mut listed = Vec::new();
        let mut list = |key: &[u8; 32], text: &str| {
            listed.push((key[0], text.to_owned()));
            Ok(())
        };
        replies.for_each(&mut list).unwrap();
        assert_eq!(listed, [(2, "B.".to_owned()), (1, "A.".to_owned())]);
        assert_eq!((replies.clear().unwrap(), replies.clear().unwrap()), (2, 0));
        assert_eq!(replies.get(&[2; 32]).unwrap(), None);
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
