//! The system of record: one `SQLite` file with documents, passages, questions, units of work and versions. Everything
//! else in a workspace is derived from it.
//!
//! A document and what was made from it are replaced in one transaction, its unit marker last; a version is switched in
//! one transaction. Killed at any moment, the records are as after the last transaction that was finished.

mod connection;
mod migrate;
mod read;
mod schema;
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

use super::{INDEX_FORMAT, INDEX_FORMAT_MIN, WorkspaceOptions};
use crate::domain::{CollectionId, IndexVersion, Skip};
use crate::embed::{EmbedderPlace, ModelPlace};
use crate::error::{Error, Result};

/// What an index is pinned to, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Identity of the collection.
    pub collection: CollectionId,
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
    /// [`INDEX_FORMAT`], or an older one that is read as it is.
    format: u32,
}

impl Records {
    /// Makes the records of an index that is pinned to an embedder, at a path where nothing is.
    pub(super) fn create(path: &Path, options: &WorkspaceOptions) -> Result<()> {
        connection::create(path, options)
    }

    /// Opens the records to write them; the caller holds the lock of the index. Those of an older format are brought
    /// to [`INDEX_FORMAT`].
    pub(super) fn open_to_write(path: &Path) -> Result<Self> {
        let mut records = Self::of(path, connection::open_to_write(path)?)?;
        if records.format != INDEX_FORMAT {
            records.migrate()?;
        }
        Ok(records)
    }

    /// Opens the records to read them.
    pub(super) fn open_to_read(path: &Path) -> Result<Self> {
        let connection = connection::open_to_read(path)?;
        Self::of(path, connection)
    }

    fn of(path: &Path, connection: Connection) -> Result<Self> {
        let mut records = Self { path: path.to_owned(), connection, format: INDEX_FORMAT };
        records.format = records.check_format()?;
        Ok(records)
    }

    /// Returns the format, if it is one that is read and the tables are those of it.
    fn check_format(&self) -> Result<u32> {
        let read = |pragma| self.connection.pragma_query_value(None, pragma, |row| row.get::<_, i32>(0));
        let application = read("application_id").map_err(|error| self.unreadable(error))?;
        let found = read("user_version").map_err(|error| self.unreadable(error))?.cast_unsigned();
        if application != connection::APPLICATION_ID {
            return Err(self.corrupt("it is a database, but not the records of an index"));
        }
        if !(INDEX_FORMAT_MIN..=INDEX_FORMAT).contains(&found) {
            return Err(Error::Format {
                path: self.path.parent().unwrap_or(&self.path).to_owned(),
                found,
                supported: INDEX_FORMAT,
            });
        }
        self.check_schema(found)?;
        Ok(found)
    }

    /// What is not exactly what this program makes is damaged, or was changed by somebody: a table that would look like
    /// a fault of this program later, a trigger that would run with its writes.
    fn check_schema(&self, format: u32) -> Result<()> {
        let found = schema::of(&self.connection).map_err(|error| self.unreadable(error))?;
        if found == *schema::due(format).map_err(Error::records("open"))? {
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

    /// Returns the format that the records have.
    pub(super) const fn format(&self) -> u32 {
        self.format
    }

    /// Returns what the index is pinned to, and where it stands.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn manifest(&self) -> Result<Manifest> {
        let sql = match self.format {
            migrate::WITHOUT_COLLECTION => "SELECT embedder, dimension, chunking, changed, current FROM manifest",
            _ => "SELECT embedder, dimension, chunking, changed, current, collection FROM manifest",
        };
        let manifest = self.connection.query_row(sql, [], |row| {
            Ok(Manifest {
                collection: match self.format {
                    migrate::WITHOUT_COLLECTION => migrate::collection(&self.connection)?,
                    _ => CollectionId::from_bytes(bytes(row, 5)?),
                },
                embedder: row.get(0)?,
                dimension: row.get::<_, u32>(1)? as usize,
                chunking: row.get(2)?,
                is_changed: row.get(3)?,
                current: row.get::<_, Option<i64>>(4)?.map(to_version),
            })
        });
        manifest.optional().map_err(|error| self.unreadable(error))?.ok_or_else(|| self.corrupt("it has no manifest"))
    }

    /// Gives a fresh index the id of the collection that it is a clone of.
    ///
    /// # Errors
    ///
    /// If the records cannot be written.
    pub fn set_collection(&mut self, collection: CollectionId) -> Result<()> {
        const SQL: &str = "UPDATE manifest SET collection = ?1";
        self.connection.execute(SQL, [collection.as_bytes()]).map_err(Error::records("write"))?;
        Ok(())
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

#[cfg(test)]
mod tests;
