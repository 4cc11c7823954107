//! The system of record: one `SQLite` file with documents, passages, questions, units of work and versions. Everything
//! else in a workspace is derived from it.
//!
//! A document and what was made from it are replaced in one transaction, its unit marker last; a version is switched in
//! one transaction. Killed at any moment, the records are as after the last transaction that was finished.

mod connection;
mod read;
mod unit;
mod version;
mod written;

use std::path::{Path, PathBuf};

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row};

pub use unit::{DocumentUnit, PassageUnit, StoredDocument};
pub use version::{EdgeRow, EntityRow, MentionRow};
pub(super) use version::{OrdinalIds, VersionRow, VersionRows};
pub use written::{WrittenCounts, WrittenQuestions};

use super::{INDEX_FORMAT, WorkspaceOptions};
use crate::domain::{Cancellation, IndexVersion, Skip};
use crate::embed::{EmbedderPlace, ModelPlace};
use crate::error::{Error, Result};

/// What an index is pinned to, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Name of the embedder that made its vectors.
    pub embedder: String,
    /// Values of a vector.
    pub dimension: usize,
    /// Fingerprint of the options that made its passages, once there are any.
    pub chunking: Option<String>,
    /// Whether documents came, changed or went since the current version was made.
    pub is_changed: bool,
    /// The last finished version.
    pub current: Option<IndexVersion>,
}

impl Manifest {
    /// Returns the embedder of the index.
    #[must_use]
    pub fn pin(&self) -> WorkspaceOptions {
        WorkspaceOptions { embedder: self.embedder.clone(), dimension: self.dimension }
    }
}

/// The records of an index, open.
#[derive(Debug)]
pub struct Records {
    path: PathBuf,
    connection: Connection,
    /// A request to stop what is being written.
    cancellation: Cancellation,
}

impl Records {
    /// Makes the records of an index that is pinned to an embedder, at a path where nothing is.
    pub(super) fn create(path: &Path, embedder: &str, dimension: usize) -> Result<()> {
        connection::create(path, embedder, dimension)
    }

    /// Opens the records to write them; the caller holds the lock of the index.
    pub(super) fn open_to_write(path: &Path) -> Result<Self> {
        let connection = connection::open_to_write(path)?;
        Self::of(path, connection)
    }

    /// Opens the records to read them.
    pub(super) fn open_to_read(path: &Path) -> Result<Self> {
        let connection = connection::open_to_read(path)?;
        Self::of(path, connection)
    }

    fn of(path: &Path, connection: Connection) -> Result<Self> {
        let records = Self { path: path.to_owned(), connection, cancellation: Cancellation::default() };
        records.check_format()?;
        Ok(records)
    }

    /// Lets a request to stop end a transaction of very many rows, of which then nothing is kept.
    pub(super) fn stop_by(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
    }

    fn check_format(&self) -> Result<()> {
        let read = |pragma| self.connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
        let application = read("application_id").map_err(|error| self.unreadable(error))?;
        let found = read("user_version").map_err(|error| self.unreadable(error))?;
        if application != connection::APPLICATION_ID {
            return Err(self.corrupt("it is a database, but not the records of an index"));
        }
        if found != INDEX_FORMAT.cast_signed() {
            return Err(Error::Format {
                path: self.path.parent().unwrap_or(&self.path).to_owned(),
                found: found.cast_unsigned(),
                supported: INDEX_FORMAT,
            });
        }
        self.check_schema()
    }

    /// A table that was damaged in name or columns would look like a fault of this program later.
    fn check_schema(&self) -> Result<()> {
        // The database keeps each statement as it was written.
        const SQL: &str = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'";
        let found = self.read_all(SQL, |row| row.get::<_, String>(0)).map_err(|error| self.unreadable(error))?;
        let due = connection::SCHEMA.matches("\nCREATE ").count();
        if found.len() == due && found.iter().all(|statement| connection::SCHEMA.contains(statement.as_str())) {
            return Ok(());
        }
        Err(self.corrupt("its tables are not those of an index"))
    }

    fn unreadable(&self, error: rusqlite::Error) -> Error {
        connection::open_error(&self.path, error)
    }

    fn corrupt(&self, reason: &str) -> Error {
        Error::Corrupt { path: self.path.clone(), reason: reason.to_owned() }
    }

    /// Returns what the index is pinned to, and where it stands.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn manifest(&self) -> Result<Manifest> {
        const SQL: &str = "SELECT embedder, dimension, chunking, changed, current FROM manifest";
        let manifest = self.connection.query_row(SQL, [], |row| {
            Ok(Manifest {
                embedder: row.get(0)?,
                dimension: row.get::<_, u32>(1)? as usize,
                chunking: row.get(2)?,
                is_changed: row.get(3)?,
                current: row.get::<_, Option<i64>>(4)?.map(to_version),
            })
        });
        manifest.optional().map_err(|error| self.unreadable(error))?.ok_or_else(|| self.corrupt("it has no manifest"))
    }

    /// Keeps the fingerprint of the options that make passages.
    ///
    /// # Errors
    ///
    /// If the records cannot be written.
    pub fn set_chunking(&mut self, fingerprint: &str) -> Result<()> {
        // A run that changes nothing writes nothing.
        const SQL: &str = "UPDATE manifest SET chunking = ?1 WHERE chunking IS NOT ?1";
        self.connection.execute(SQL, [fingerprint]).map_err(Error::records("write"))?;
        Ok(())
    }

    /// Returns where the model of the embedder was when the index was made, if it has one and that can be read.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn model_place(&self) -> Result<Option<EmbedderPlace>> {
        let read = |row: &Row<'_>| row.get::<_, Option<String>>(0);
        let place =
            self.connection.query_row("SELECT place FROM manifest", [], read).map_err(Error::records("read"))?;
        // A hint that says nothing is no damage.
        Ok(place.and_then(|place| serde_json::from_str(&place).ok()))
    }

    /// Keeps where the model of the embedder is, as whole paths or as an address.
    ///
    /// # Errors
    ///
    /// If the records cannot be written.
    pub fn set_model_place(&mut self, place: Option<&EmbedderPlace>) -> Result<()> {
        const SQL: &str = "UPDATE manifest SET place = ?1 WHERE place IS NOT ?1";
        let whole = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let place = place.and_then(|place| {
            let place = match place {
                EmbedderPlace::Local(ModelPlace { folder, runtime }) => {
                    let (folder, runtime) = (whole(folder), runtime.as_ref().map(whole));
                    EmbedderPlace::Local(ModelPlace { folder, runtime })
                }
                EmbedderPlace::Server(server) => EmbedderPlace::Server(server.clone()),
            };
            // A path that is no text cannot be kept; then it has to be given again.
            serde_json::to_string(&place).ok()
        });
        self.connection.execute(SQL, [place]).map_err(Error::records("write"))?;
        Ok(())
    }

    /// Returns what the last run left out.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn skips(&self) -> Result<Vec<Skip>> {
        let wrong = Error::records("read");
        self.read_all("SELECT source, reason FROM skips ORDER BY skip", |row| {
            Ok(Skip { source: row.get(0)?, reason: row.get(1)? })
        })
        .map_err(wrong)
    }

    /// Keeps what a run left out, in place of what the last one did.
    ///
    /// # Errors
    ///
    /// If the records cannot be written.
    pub fn set_skips(&mut self, skips: &[Skip]) -> Result<()> {
        if self.skips()? == skips {
            return Ok(());
        }
        self.write(|transaction| {
            transaction.execute("DELETE FROM skips", [])?;
            let mut insert = transaction.prepare("INSERT INTO skips (source, reason) VALUES (?1, ?2)")?;
            skips.iter().try_for_each(|skip| insert.execute([&skip.source, &skip.reason]).map(drop))
        })
    }

    /// Runs `change` in one transaction.
    fn write<T>(&mut self, change: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T>) -> Result<T> {
        let transaction = self.connection.transaction().map_err(Error::records("write"))?;
        let changed = change(&transaction).map_err(Error::records("write"))?;
        transaction.commit().map_err(Error::records("write"))?;
        Ok(changed)
    }

    fn read_all<T>(&self, sql: &str, read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<Vec<T>> {
        self.connection.prepare(sql)?.query_map([], read)?.collect()
    }
}

fn to_version(number: i64) -> IndexVersion {
    IndexVersion(number.cast_unsigned())
}

/// Returns an id or hash of `N` bytes from a column.
fn bytes<const N: usize>(row: &Row<'_>, column: usize) -> rusqlite::Result<[u8; N]> {
    row.get::<_, [u8; N]>(column)
}

/// Returns what is written as JSON in a column.
fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|error| damaged(column, Type::Text, error))
}

/// Returns the error of a column whose contents are not what was written.
fn damaged(column: usize, kind: Type, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, kind, why.into())
}

/// Rows of a transaction between two looks at whether to go on.
const ROWS_BETWEEN_LOOKS: usize = 4_096;

/// Ends a transaction as its database would, if a stop was asked for; looks at it once in many rows.
fn look(cancellation: &Cancellation, row: usize) -> rusqlite::Result<()> {
    if row % ROWS_BETWEEN_LOOKS == ROWS_BETWEEN_LOOKS - 1 && cancellation.is_cancelled() {
        let interrupted = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_INTERRUPT);
        return Err(rusqlite::Error::SqliteFailure(interrupted, None));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
