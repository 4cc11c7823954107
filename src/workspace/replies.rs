//! Paid replies of language models, in a separate file beside the records: losing it costs only money, and it is not
//! part of the index.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, TransactionBehavior};

use super::{database, hardening};
use crate::error::{Error, Result};
use crate::files::{self, Readers};
use crate::store::ReplyStore;

/// `CaRp` in ASCII: distinguishes kept replies from other databases.
const APPLICATION_ID: i32 = 0x4361_5270;
/// Replies that are kept; beyond, the oldest go.
const REPLIES_MAX: i64 = 100_000;
/// The tables: since an earlier program, and since this one.
const TABLES: [&str; 2] = [include_str!("replies.sql"), include_str!("replies-digests.sql")];
/// Keeps a reply, replacing the one under its key.
const KEEP: &str = "INSERT INTO replies (key, reply) VALUES (?1, ?2) \
     ON CONFLICT (key) DO UPDATE SET reply = excluded.reply RETURNING number";
/// Keeps the digest of a reply.
const SEAL: &str = "INSERT OR REPLACE INTO digests (number, digest) VALUES (?1, ?2)";
/// What [`Replies::whole`] takes, but for where.
const WHOLE: &str = "SELECT r.key, r.reply, d.digest FROM replies r LEFT JOIN digests d ON d.number = r.number";
/// The same of a file without digests.
const UNSEALED: &str = "SELECT r.key, r.reply, NULL FROM replies r";
/// The same of a file whose making was interrupted: it has no tables.
const UNMADE: &str = "SELECT r.key, r.reply, NULL FROM (SELECT NULL AS number, NULL AS key, NULL AS reply LIMIT 0) r";
/// Forgets the oldest beyond a number.
const FORGET_OLDEST: &str = "DELETE FROM replies WHERE number <= (SELECT max(number) FROM replies) - ?1";
/// Deletes the digests of replies that are no longer kept.
const FORGET_SEALS: &str = "DELETE FROM digests WHERE number < (SELECT coalesce(min(number), number + 1) FROM replies)";
/// How long one process waits for another that holds the file for a moment.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Replies that are kept in a file.
pub(crate) struct Replies {
    path: PathBuf,
    connection: Mutex<Connection>,
    /// How replies are read: a file that was not written yet by this program has no digests.
    read: &'static str,
}

impl Replies {
    /// Opens the replies in a file, or makes it: only its owner may read it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file cannot be made, [`Error::Corrupt`] if it holds something else.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        database::expect_files(path)?;
        files::append_own(path, Readers::Owner)?;
        Self::of(path, prepared(path))
    }

    /// Opens the replies in a file, to read them.
    ///
    /// # Errors
    ///
    /// [`Error::Records`] if the file is not there, [`Error::Corrupt`] if it holds something else.
    pub(crate) fn open_to_read(path: &Path) -> Result<Self> {
        database::expect_files(path)?;
        let open = || {
            let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            hardening::distrust(&connection)?;
            Ok(connection)
        };
        Self::of(path, open())
    }

    fn of(path: &Path, connection: rusqlite::Result<Connection>) -> Result<Self> {
        let connection = connection.map_err(|error| unread(path, error))?;
        let id: i32 = connection
            .pragma_query_value(None, "application_id", |row| row.get(0))
            .map_err(|error| unread(path, error))?;
        let found = hardening::schema(&connection).map_err(|error| unread(path, error))?;
        let is_unmade = id == 0 && found.is_empty();
        if id != APPLICATION_ID && !is_unmade {
            return Err(Error::Corrupt { path: path.to_owned(), reason: "it holds something else".to_owned() });
        }
        let is_of = |tables: &[&str]| hardening::schema_of(&tables.concat()).is_ok_and(|due| due == found);
        let read = if is_unmade {
            UNMADE
        } else if is_of(&TABLES) {
            WHOLE
        } else if is_of(&TABLES[..1]) {
            UNSEALED
        } else {
            let reason = "its tables are not those of replies".to_owned();
            return Err(Error::Corrupt { path: path.to_owned(), reason });
        };
        Ok(Self { path: path.to_owned(), connection: Mutex::new(connection), read })
    }

    /// Returns their path.
    #[must_use]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the bytes of the file, if it can be read.
    #[must_use]
    pub(crate) fn bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    /// Calls `visit` with the key and the text of every reply, in the order in which they were kept. One that is
    /// damaged counts as not kept.
    ///
    /// # Errors
    ///
    /// Those of `visit`; [`Error::Corrupt`] if the file cannot be read.
    pub(crate) fn for_each(&self, visit: &mut dyn FnMut(&[u8; 32], &str) -> Result<()>) -> Result<()> {
        let connection = self.connection();
        let wrong = |error: rusqlite::Error| unread(&self.path, error);
        let mut statement = connection.prepare(&format!("{} ORDER BY r.number", self.read)).map_err(wrong)?;
        let mut rows = statement.query([]).map_err(wrong)?;
        while let Some(row) = rows.next().map_err(wrong)? {
            if let Some((key, reply)) = self.whole(row) {
                visit(&key, &reply)?;
            }
        }
        Ok(())
    }

    /// Returns a reply and its key, if it is what was written.
    fn whole(&self, row: &Row<'_>) -> Option<([u8; 32], String)> {
        let (key, reply): ([u8; 32], String) = (row.get(0).ok()?, row.get(1).ok()?);
        let is_right = self.read == UNSEALED || row.get_ref(2).ok()?.as_blob() == Ok(&digest(&key, &reply));
        is_right.then_some((key, reply))
    }

    /// Returns the faults of the file and the replies in it.
    pub(super) fn faults(&self) -> Result<Vec<String>> {
        let connection = self.connection();
        let check = || -> rusqlite::Result<Vec<String>> {
            let mut lines = connection.prepare("PRAGMA integrity_check(20)")?;
            let lines = lines.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
            let mut faults: Vec<String> = lines.into_iter().filter(|line| line != "ok").collect();
            let mut statement = connection.prepare(self.read)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if self.whole(row).is_none() {
                    faults.push("a reply is not what was written".to_owned());
                }
            }
            Ok(faults)
        };
        check().map_err(|error| unread(&self.path, error))
    }

    /// Keeps replies, all or none of them; one that is kept already stays. Returns how many are new.
    ///
    /// # Errors
    ///
    /// [`Error::Records`] if they cannot be written.
    pub(crate) fn add<'a>(&self, replies: impl IntoIterator<Item = (&'a [u8; 32], &'a str)>) -> Result<usize> {
        self.write(Kept::Stays, replies)
    }

    fn write<'a>(&self, kept: Kept, replies: impl IntoIterator<Item = (&'a [u8; 32], &'a str)>) -> Result<usize> {
        let mut connection = self.connection();
        let write = || {
            // Others write, too: a transaction that had begun to read would not wait for them.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut added = 0;
            for (key, reply) in replies {
                // A damaged one counts as not kept.
                if kept == Kept::Stays && self.find(&transaction, key)?.is_some() {
                    continue;
                }
                let number: i64 = transaction.query_row(KEEP, (key, reply), |row| row.get(0))?;
                transaction.execute(SEAL, (number, digest(key, reply)))?;
                added += 1;
            }
            transaction.execute(FORGET_OLDEST, [REPLIES_MAX])?;
            transaction.execute(FORGET_SEALS, [])?;
            transaction.commit()?;
            Ok(added)
        };
        write().map_err(Error::records("write"))
    }

    fn find(&self, connection: &Connection, key: &[u8; 32]) -> rusqlite::Result<Option<String>> {
        let sql = format!("{} WHERE r.key = ?1", self.read);
        let found = connection.prepare(&sql)?.query_row([key], |row| Ok(self.whole(row))).optional()?;
        Ok(found.flatten().map(|(_, reply)| reply))
    }

    /// Forgets all replies, and returns how many there were.
    ///
    /// # Errors
    ///
    /// [`Error::Records`] if the file cannot be written.
    pub(crate) fn clear(&self) -> Result<usize> {
        let connection = self.connection();
        let clear = || {
            let count = connection.execute("DELETE FROM replies", [])?;
            connection.execute("DELETE FROM digests", [])?;
            connection.execute_batch("VACUUM")?;
            Ok(count)
        };
        clear().map_err(Error::records("write"))
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What becomes of a reply under whose key another comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// It stays.
    Stays,
    /// It is replaced.
    Goes,
}

/// Returns the digest of a reply: the first half of a hash of its key and its text.
fn digest(key: &[u8; 32], reply: &str) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(key).update(reply.as_bytes());
    let mut digest = [0; 16];
    digest.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    digest
}

fn prepared(path: &Path) -> rusqlite::Result<Connection> {
    let mut connection = Connection::open(path)?;
    hardening::distrust(&connection)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let id: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    // A run that was killed while it made the file left it without tables.
    let is_unmade = id == 0 && hardening::schema(&connection)?.is_empty();
    if id != APPLICATION_ID && !is_unmade {
        // Something else: it is refused, and stays as it is.
        return Ok(connection);
    }
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != "wal" {
        // The switch itself leaves no journal behind, whatever ends the program.
        for mode in ["MEMORY", "WAL"] {
            connection.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(()))?;
        }
    }
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = hardening::schema(&transaction)?;
    if found.is_empty() {
        transaction.execute_batch(&TABLES.concat())?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    } else if found == hardening::schema_of(TABLES[0])? {
        seal(&transaction)?;
    }
    transaction.commit()?;
    Ok(connection)
}

/// Gives the replies of a file of an earlier program their digests.
fn seal(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES[1])?;
    let mut statement = connection.prepare("SELECT number, key, reply FROM replies")?;
    let mut rows = statement.query([])?;
    let mut seal = connection.prepare(SEAL)?;
    while let Some(row) = rows.next()? {
        let (key, reply): ([u8; 32], String) = (row.get(1)?, row.get(2)?);
        seal.execute((row.get::<_, i64>(0)?, digest(&key, &reply)))?;
    }
    Ok(())
}

/// Reports damage only if the database does: a full disk, too little memory or another process are not damage.
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
        self.find(&self.connection(), key).map_err(|error| unread(&self.path, error))
    }

    fn put(&self, key: &[u8; 32], reply: &str) -> Result<()> {
        self.write(Kept::Stays, [(key, reply)]).map(drop)
    }

    fn replace(&self, key: &[u8; 32], reply: &str) -> Result<()> {
        self.write(Kept::Goes, [(key, reply)]).map(drop)
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
    fn a_file_that_was_interrupted_while_written_is_completed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.db");
        let begun = Connection::open(&path).unwrap();
        for mode in ["MEMORY", "WAL"] {
            begun.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(())).unwrap();
        }
        drop(begun);
        assert!(std::fs::metadata(&path).unwrap().len() > 0);
        assert_eq!(Replies::open_to_read(&path).unwrap().get(&[1; 32]).unwrap(), None);
        let replies = Replies::open(&path).unwrap();
        replies.put(&[1; 32], "A.").unwrap();
        assert_eq!(replies.get(&[1; 32]).unwrap().as_deref(), Some("A."));
    }

    #[test]
    fn a_journal_beside_the_replies_is_refused_and_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.db");
        Replies::open(&path).unwrap().put(&[1; 32], "A.").unwrap();
        let (before, journal) = (std::fs::read(&path).unwrap(), folder.path().join("replies.db-journal"));
        std::fs::write(&journal, b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7").unwrap();
        for opened in [Replies::open(&path), Replies::open_to_read(&path)] {
            assert!(matches!(opened, Err(Error::Foreign { path }) if path == journal));
        }
        assert_eq!(std::fs::read(&path).unwrap(), before);
        assert!(journal.is_file());
    }

    #[test]
    fn only_damage_is_called_damage() {
        use rusqlite::ffi::{
            Error as Code, SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_IOERR_FSYNC, SQLITE_NOMEM,
        };
        let kind = |code| {
            let error = unread(Path::new("replies.db"), rusqlite::Error::SqliteFailure(Code::new(code), None));
            error.kind()
        };
        assert_eq!(kind(SQLITE_CORRUPT), ErrorKind::Corrupt);
        assert_eq!(kind(SQLITE_BUSY), ErrorKind::Busy);
        for code in [SQLITE_FULL, SQLITE_IOERR_FSYNC, SQLITE_NOMEM] {
            assert_eq!(kind(code), ErrorKind::Io, "{code}");
        }
    }

    #[test]
    fn replies_are_listed_in_order_added_once_and_deleted() {
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

    #[test]
    fn a_damaged_reply_counts_as_not_kept_and_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.db");
        let replies = Replies::open(&path).unwrap();
        for key in 1..4 {
            replies.put(&[key; 32], "Ada Wren built the mill.").unwrap();
        }
        let change = |sql: &str| assert_eq!(Connection::open(&path).unwrap().execute(sql, []), Ok(1), "{sql}");
        change("UPDATE replies SET reply = 'Ada Wren sold the mill.' WHERE number = 1");
        change("UPDATE digests SET digest = x'00' WHERE number = 2");
        let kept = |replies: &Replies| [1, 2, 3].map(|key| replies.get(&[key; 32]).unwrap().is_some());
        assert_eq!(kept(&replies), [false, false, true]);
        assert_eq!(replies.faults().unwrap().len(), 2);
        let mut count = 0;
        let mut visit = |_: &[u8; 32], _: &str| {
            count += 1;
            Ok(())
        };
        replies.for_each(&mut visit).unwrap();
        assert_eq!(count, 1);
        for key in 1..4 {
            replies.put(&[key; 32], "anew").unwrap();
        }
        assert_eq!((kept(&replies), replies.faults().unwrap()), ([true; 3], Vec::new()));
        assert_eq!(replies.get(&[3; 32]).unwrap().as_deref(), Some("Ada Wren built the mill."));
    }

    #[test]
    fn replies_of_an_earlier_program_are_read_and_come_to_have_digests() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("replies.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(TABLES[0]).unwrap();
        connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
        connection.execute("INSERT INTO replies (key, reply) VALUES (?1, 'A.')", [[1; 32]]).unwrap();
        drop(connection);
        assert_eq!(Replies::open_to_read(&path).unwrap().get(&[1; 32]).unwrap().as_deref(), Some("A."));
        assert_eq!(Replies::open(&path).unwrap().get(&[1; 32]).unwrap().as_deref(), Some("A."));
        Connection::open(&path).unwrap().execute("UPDATE replies SET reply = 'B.'", []).unwrap();
        assert_eq!(Replies::open_to_read(&path).unwrap().get(&[1; 32]).unwrap(), None);
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
