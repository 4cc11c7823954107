//! Creates and opens the database: with settings by which a finished transaction survives a power cut, and read-only in
//! a folder that cannot be written.

use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::super::{INDEX_FORMAT, WorkspaceOptions, database, hardening};
use super::{pages, schema};
use crate::domain::CollectionId;
use crate::error::{Error, Result};
use crate::files;

/// `Carn` in ASCII: distinguishes the records of an index from other databases.
pub(super) const APPLICATION_ID: i32 = 0x4361_726e;

/// How long one process waits for another that holds the database for a moment.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// The size to which the write-ahead log is truncated after a checkpoint.
const LOG_BYTES_KEPT: i64 = 32 << 20;
/// Pages of the log after which they are moved into the database. Ids come in no order, so rows of many documents fall
/// on the same pages of an index: the fewer times these are moved, the better.
const LOG_PAGES: u32 = 8_192;

/// Creates the database: under another name first, so that it exists completely or not at all.
pub(super) fn create(path: &Path, options: &WorkspaceOptions) -> Result<()> {
    let unfinished = database::unfinished(path);
    database::remove(&unfinished)?;
    // A log that a lost database left behind would be taken for that of the new one.
    database::remove(path)?;
    let filled = fill(&unfinished, options, fresh_collection(path)).map_err(Error::records("make"));
    let made = filled.and_then(|()| files::sync(&unfinished)).and_then(|()| files::rename_own(&unfinished, path));
    if made.is_err() {
        // The incomplete file is useless; the error says what happened.
        let _gone = database::remove(&unfinished);
    }
    made
}

fn fill(path: &Path, options: &WorkspaceOptions, collection: CollectionId) -> rusqlite::Result<()> {
    let WorkspaceOptions { embedder, dimension } = options;
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(schema::SCHEMA)?;
    transaction.execute(
        "INSERT INTO manifest (one, format, collection, embedder, dimension, changed, digest) \
         VALUES (1, ?1, ?2, ?3, ?4, 0, x'')",
        (INDEX_FORMAT, collection.as_bytes(), embedder, *dimension as u32),
    )?;
    super::seal_manifest(&transaction)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", INDEX_FORMAT)?;
    transaction.commit()?;
    // Stored in the file, so that later connections use the log.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Makes the unique id of a new collection, from randomness of the system, this process, and the path.
pub(super) fn fresh_collection(path: &Path) -> CollectionId {
    let random = [0; 2].map(|_| RandomState::new().hash_one(()).to_le_bytes());
    let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let process = std::process::id().to_le_bytes();
    CollectionId::of(&[&random[0], &random[1], &process, place.as_os_str().as_encoded_bytes()])
}

/// Opens the database for the one writer.
pub(super) fn open_to_write(path: &Path) -> Result<Connection> {
    database::expect_files(path)?;
    let open = || {
        let connection = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))?;
        hardening::distrust(&connection)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
        if mode != "wal" {
            // Written without a log, it would be left half changed by whatever ends the program.
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ERROR);
            return Err(rusqlite::Error::SqliteFailure(code, Some("it says that it has no log".to_owned())));
        }
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES_KEPT, |_| Ok(()))?;
        connection.pragma_update_and_check(None, "wal_autocheckpoint", LOG_PAGES, |_| Ok(()))?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        Ok(connection)
    };
    open().map_err(|error| open_error(path, error))
}

/// Opens the database to read it, however little the folder allows.
///
/// A reader with write access to the folder uses the log normally, and the last one removes it. One without uses the
/// existing files. If there is no log and none can be created, nobody can write either, and the file alone is read. If
/// there is a log but no room for its companion, as on a full disk, the log is still read: without it, an older version
/// would be shown.
pub(super) fn open_to_read(path: &Path) -> Result<Connection> {
    database::expect_files(path)?;
    let attempts = [OpenFlags::SQLITE_OPEN_READ_WRITE, OpenFlags::SQLITE_OPEN_READ_ONLY];
    for mode in attempts {
        match try_to_read(path, flags(mode)) {
            Err(error) if is_refused(&error) => {}
            done => return done.map_err(|error| open_error(path, error)),
        }
    }
    match uri_of_immutable(path).filter(|_| !has_log(path)) {
        Some(uri) => try_to_read(&uri, flags(OpenFlags::SQLITE_OPEN_READ_ONLY) | OpenFlags::SQLITE_OPEN_URI),
        None => try_to_read_alone(path),
    }
    .map_err(|error| open_error(path, error))
}

/// Opens the database beside the connection that writes to it. It sorts in memory, as that does.
pub(super) fn open_beside(path: &Path) -> rusqlite::Result<Connection> {
    let connection = try_to_read(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(connection)
}

fn try_to_read(path: impl AsRef<Path>, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags)?;
    hardening::distrust(&connection)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    first_read(connection)
}

/// Reads the log without its shared-memory file: the index of the log is in memory, and nobody else may open the
/// database at the same time. Nothing is written, not even on close.
fn try_to_read_alone(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))?;
    hardening::distrust(&connection)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
    connection.pragma_update(None, "query_only", true)?;
    first_read(connection)
}

/// The log is opened by the first read, not before.
fn first_read(connection: Connection) -> rusqlite::Result<Connection> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

fn flags(mode: OpenFlags) -> OpenFlags {
    mode | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// Returns whether the system prevents the normal use of the log: the folder cannot be written, or there is no room for
/// its companion.
fn is_refused(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure};
    let refusals = [CannotOpen, DiskFull, PermissionDenied, ReadOnly, SystemIoFailure];
    error.sqlite_error_code().is_some_and(|code| refusals.contains(&code))
}

fn has_log(path: &Path) -> bool {
    std::fs::metadata(database::log(path)).is_ok_and(|log| log.len() > 0)
}

/// Returns the path as a URI that declares the file immutable; none for a path that is not text.
fn uri_of_immutable(path: &Path) -> Option<String> {
    let mut uri = String::from("file:");
    for byte in path.to_str()?.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte) {
            uri.push(byte as char);
        } else {
            let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or('0');
            uri.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    uri.push_str("?immutable=1");
    Some(uri)
}

/// Names the damaged file, which the database's error does not. Nor does it distinguish a damaged page from one that
/// the disk failed to read, so the file is read once more.
pub(super) fn open_error(path: &Path, error: rusqlite::Error) -> Error {
    let reason = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt) if is_whole(path).unwrap_or(false) => {
            return Error::io("read", path)(std::io::Error::other("the disk failed to read it once; it is whole"));
        }
        Some(ErrorCode::NotADatabase) => "it is not a database".to_owned(),
        // The first statements are ours and known to be right, so the file is at fault.
        Some(ErrorCode::Unknown | ErrorCode::DatabaseCorrupt | ErrorCode::TooBig) => error.to_string(),
        _ => return Error::records("open")(error),
    };
    Error::Corrupt { path: path.to_owned(), reason }
}

/// Returns whether the database can be read and finds no damage in itself.
fn is_whole(path: &Path) -> rusqlite::Result<bool> {
    let open = |mode| try_to_read(path, flags(mode));
    let connection = open(OpenFlags::SQLITE_OPEN_READ_WRITE).or_else(|_| open(OpenFlags::SQLITE_OPEN_READ_ONLY))?;
    pages::check(&connection).map(|said| said == pages::WHOLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    /// The library's message for a page that the disk failed to read.
    #[test]
    fn a_failed_read_is_not_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cairn.db");
        create(&path, &options()).unwrap();
        let said = || rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT), None);
        assert_eq!(open_error(&path, said()).kind(), ErrorKind::Io);
        let bytes = std::fs::read(&path).unwrap();
        let mut damaged = bytes.clone();
        // The header of the page at the root of the first table.
        damaged[4_096..4_104].fill(0xff);
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(open_error(&path, said()).kind(), ErrorKind::Corrupt);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(open_error(&path, said()).kind(), ErrorKind::Corrupt);
    }

    fn options() -> WorkspaceOptions {
        WorkspaceOptions { embedder: "embedder".to_owned(), dimension: 8 }
    }

    #[test]
    fn records_in_a_folder_that_allows_no_log_are_read_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("é a?b#c%d.db");
        create(&path, &options()).unwrap();
        let uri = uri_of_immutable(&path).unwrap();
        let connection =
            try_to_read(uri, flags(OpenFlags::SQLITE_OPEN_READ_ONLY) | OpenFlags::SQLITE_OPEN_URI).unwrap();
        let read = connection.query_row("SELECT dimension FROM manifest", [], |row| row.get::<_, i64>(0));
        assert_eq!(read, Ok(8));
    }

    /// A log that has not been written back yet, in a folder where a reader cannot create the file that goes with it.
    #[test]
    fn a_log_is_read_without_a_file_beside_it_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cairn.db");
        create(&path, &options()).unwrap();
        let writer = open_to_write(&path).unwrap();
        writer.execute("UPDATE manifest SET dimension = 9", []).unwrap();
        let copied = folder.path().join("copied.db");
        std::fs::copy(&path, &copied).unwrap();
        std::fs::copy(database::log(&path), database::log(&copied)).unwrap();
        assert!(has_log(&copied));
        let log = std::fs::read(database::log(&copied)).unwrap();
        for _ in 0..2 {
            let reader = try_to_read_alone(&copied).unwrap();
            let read = reader.query_row("SELECT dimension FROM manifest", [], |row| row.get::<_, i64>(0));
            assert_eq!(read, Ok(9), "what the log says counts");
            assert!(!folder.path().join("copied.db-shm").exists());
        }
        assert_eq!(std::fs::read(database::log(&copied)).unwrap(), log);
        drop(writer);
    }

    #[test]
    fn a_full_disk_is_a_refusal_and_damage_is_not() {
        use rusqlite::ffi::{SQLITE_CANTOPEN, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY};
        let failure = |code| rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
        for code in [SQLITE_CANTOPEN, SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY] {
            assert!(is_refused(&failure(code)), "{code}");
        }
        assert!(!is_refused(&failure(SQLITE_CORRUPT)));
    }

    #[test]
    fn a_log_of_lost_records_does_not_reach_into_new_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cairn.db");
        std::fs::write(database::log(&path), b"left behind").unwrap();
        create(&path, &options()).unwrap();
        assert!(!has_log(&path));
        assert!(open_to_read(&path).is_ok());
    }
}
