//! How the database is made and opened: settings that make a finished transaction survive a power cut, and ways to read
//! it from a folder that cannot be written.

use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::super::{INDEX_FORMAT, WorkspaceOptions};
use super::schema;
use crate::domain::CollectionId;
use crate::error::{Error, Result};

/// `Carn` in ASCII: tells the records of an index from other databases.
pub(super) const APPLICATION_ID: i32 = 0x4361_726e;

/// How long one process waits for another that holds the database for a moment.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// What the write-ahead log is cut to once it is written back.
const LOG_BYTES_KEPT: i64 = 4 << 20;

/// Makes the database: under another name first, so that it is there whole or not at all.
pub(super) fn create(path: &Path, options: &WorkspaceOptions) -> Result<()> {
    let unfinished = path.with_extension("db-new");
    remove_with_companions(&unfinished)?;
    // A log that a lost database left behind would be taken for that of the new one.
    remove_with_companions(path)?;
    fill(&unfinished, options, fresh_collection(path)).map_err(Error::records("make"))?;
    std::fs::rename(&unfinished, path).map_err(Error::io("name", path))
}

fn fill(path: &Path, options: &WorkspaceOptions, collection: CollectionId) -> rusqlite::Result<()> {
    let WorkspaceOptions { embedder, dimension } = options;
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(schema::SCHEMA)?;
    transaction.execute(
        "INSERT INTO manifest (one, format, collection, embedder, dimension, changed) VALUES (1, ?1, ?2, ?3, ?4, 0)",
        (INDEX_FORMAT, collection.as_bytes(), embedder, *dimension as u32),
    )?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", INDEX_FORMAT)?;
    transaction.commit()?;
    // Kept in the file: whoever opens it later uses the log.
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Makes the id of a new collection, out of what no other has: randomness of the system, this process, and the place.
pub(super) fn fresh_collection(path: &Path) -> CollectionId {
    let random = [0; 2].map(|_| RandomState::new().hash_one(()).to_le_bytes());
    let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let process = std::process::id().to_le_bytes();
    CollectionId::of(&[&random[0], &random[1], &process, place.as_os_str().as_encoded_bytes()])
}

fn remove_with_companions(path: &Path) -> Result<()> {
    for suffix in ["", "-journal", "-wal", "-shm"] {
        let path = companion(path, suffix);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("remove", path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn companion(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Opens the database for the one writer.
pub(super) fn open_to_write(path: &Path) -> Result<Connection> {
    let open = || {
        let connection = Connection::open_with_flags(path, flags(OpenFlags::SQLITE_OPEN_READ_WRITE))?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES_KEPT, |_| Ok(()))?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        Ok(connection)
    };
    open().map_err(|error| open_error(path, error))
}

/// Opens the database to read it, however little the folder allows.
///
/// A reader that may write to the folder takes part in the log as everyone does, and the last to leave clears it away.
/// One that may not reads with what is there. Where there is no log and none can be made, nobody can write either, and
/// the file is read as it is.
pub(super) fn open_to_read(path: &Path) -> Result<Connection> {
    let attempts = [OpenFlags::SQLITE_OPEN_READ_WRITE, OpenFlags::SQLITE_OPEN_READ_ONLY];
    for mode in attempts {
        match try_to_read(path, flags(mode)) {
            Err(error) if is_refused(&error) => {}
            done => return done.map_err(|error| open_error(path, error)),
        }
    }
    match uri_of_immutable(path).filter(|_| !has_log(path)) {
        Some(uri) => try_to_read(&uri, flags(OpenFlags::SQLITE_OPEN_READ_ONLY) | OpenFlags::SQLITE_OPEN_URI),
        None => try_to_read(path, flags(OpenFlags::SQLITE_OPEN_READ_ONLY)),
    }
    .map_err(|error| open_error(path, error))
}

fn try_to_read(path: impl AsRef<Path>, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    // The log is opened by the first read, not before.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

fn flags(mode: OpenFlags) -> OpenFlags {
    mode | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn is_refused(error: &rusqlite::Error) -> bool {
    use ErrorCode::{CannotOpen, PermissionDenied, ReadOnly};
    matches!(error.sqlite_error_code(), Some(CannotOpen | PermissionDenied | ReadOnly))
}

fn has_log(path: &Path) -> bool {
    std::fs::metadata(companion(path, "-wal")).is_ok_and(|log| log.len() > 0)
}

/// Returns the path as a URI that promises that nobody writes; nothing for a path that is not text.
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

/// Names the file where it is damaged: what the database says does not tell which file it is.
pub(super) fn open_error(path: &Path, error: rusqlite::Error) -> Error {
    let reason = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => "it is not a database".to_owned(),
        // The first statements are ours and known to be right: what is wrong is the file.
        Some(ErrorCode::Unknown | ErrorCode::DatabaseCorrupt) => error.to_string(),
        _ => return Error::records("open")(error),
    };
    Error::Corrupt { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_log_of_lost_records_does_not_reach_into_new_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cairn.db");
        std::fs::write(companion(&path, "-wal"), b"left behind").unwrap();
        create(&path, &options()).unwrap();
        assert!(!has_log(&path));
        assert!(open_to_read(&path).is_ok());
    }
}
