//! The system of record: one `SQLite` file with documents, passages, questions, units of work and versions. Everything
//! else in a workspace is derived from it.
//!
//! A document and what was made from it are replaced in one transaction, its unit marker last; a version is switched in
//! one transaction. Killed at any moment, the records are in the state of the last finished transaction.

mod connection;
mod digest;
mod extracted;
mod migrate;
mod names;
mod pages;
mod read;
mod removed;
mod reports;
mod schema;
mod survey;
mod unit;
mod version;
mod written;

use std::path::{Path, PathBuf};

use rusqlite::types::Type;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row, Transaction, TransactionBehavior, params};

use digest::Digest;
pub(crate) use extracted::{Extracted, ProposedTypes, WrittenExtraction};
pub(crate) use names::NAME_PAIRS_MAX;
use pages::PageCheck;
pub(crate) use read::{ListedUnit, NO_SEAL, Seal, Units};
pub(crate) use reports::{StoredReport, WrittenReport};
pub(crate) use survey::DamagedUnit;
pub(super) use survey::{Survey, with_cause};
pub(crate) use unit::{DocumentUnit, PassageUnit, StoredDocument};
pub(super) use version::{LastFiles, VersionRow};
pub(crate) use version::{StageMark, StageMarks};
pub use written::WrittenCounts;
pub(crate) use written::{ModelStage, WrittenQuestions};

use super::{INDEX_FORMAT, INDEX_FORMAT_MIN, WorkspaceOptions, hardening};
use crate::domain::{Cancellation, CollectionId, IndexVersion, Skip};
use crate::embed::EmbedderPlace;
use crate::error::{Error, Result};

/// The pins and the state of an index.
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
    /// Whether documents were added, changed or removed since the current version was made.
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
    /// Whether the pages of the database were checked before the first write.
    is_looked_through: bool,
    /// That check, if it was begun beside other work.
    page_check: Option<PageCheck>,
    /// Whether that was tried.
    is_write_expected: bool,
    /// A request to stop the current write.
    cancellation: Cancellation,
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
        let mut records = Self {
            path: path.to_owned(),
            connection,
            format: INDEX_FORMAT,
            is_looked_through: false,
            page_check: None,
            is_write_expected: false,
            cancellation: Cancellation::default(),
        };
        records.format = records.check_format()?;
        Ok(records)
    }

    /// Allows a request to stop to end a transaction of very many rows, which is then rolled back.
    pub(super) fn stop_by(&mut self, cancellation: &Cancellation) {
        self.cancellation = cancellation.clone();
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

    /// A schema other than this program's is damaged or was changed: a foreign table would later look like a fault of
    /// this program, and a trigger would run with its writes.
    fn check_schema(&self, format: u32) -> Result<()> {
        let found = hardening::schema(&self.connection).map_err(|error| self.unreadable(error))?;
        if found == *schema::due(format).map_err(Error::records("open"))? {
            return Ok(());
        }
        Err(self.corrupt("its tables are not those of an index"))
    }

    /// Returns `error` with the damaged file, or as a read error if the disk merely failed to read it once.
    pub(super) fn looked_at_again(&self, error: Error) -> Error {
        match error {
            Error::Records { source, .. } if source.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
                self.unreadable(source)
            }
            other => other,
        }
    }

    fn unreadable(&self, error: rusqlite::Error) -> Error {
        connection::open_error(&self.path, error)
    }

    fn corrupt(&self, reason: impl Into<String>) -> Error {
        Error::Corrupt { path: self.path.clone(), reason: reason.into() }
    }

    /// Returns whether the records have digests.
    const fn has_digests(&self) -> bool {
        self.format > migrate::WITHOUT_DIGESTS
    }

    /// Returns whether documents say where lines and pages begin in them.
    const fn has_positions(&self) -> bool {
        self.format > migrate::WITHOUT_POSITIONS
    }

    /// Returns whether there are tables for a model's extractions.
    const fn has_extractions(&self) -> bool {
        self.format > migrate::WITHOUT_EXTRACTIONS
    }

    /// Returns the format that the records have.
    pub(super) const fn format(&self) -> u32 {
        self.format
    }

    /// Returns the pins and the state of the index.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn manifest(&self) -> Result<Manifest> {
        let read = self.connection.query_row(&self.manifest_sql(), [], read_manifest);
        let row = read.optional().map_err(|error| self.unreadable(error))?;
        let row = row.ok_or_else(|| self.corrupt("it has no manifest"))?;
        self.checked_manifest(row)
    }

    /// Returns the statement that reads what [`read_manifest`] takes.
    fn manifest_sql(&self) -> String {
        if self.has_digests() {
            format!("SELECT {MANIFEST} FROM manifest")
        } else {
            format!("SELECT {} FROM manifest", MANIFEST.replace("collection, digest", "NULL, NULL"))
        }
    }

    fn checked_manifest(&self, row: ManifestRow) -> Result<Manifest> {
        let ManifestRow { format, mut manifest, place, digest } = row;
        if !self.has_digests() {
            manifest.collection = migrate::collection(&self.connection).map_err(Error::records("read"))?;
        }
        if digest::is_right(self.format, digest, || digest::manifest(&manifest, format, place.as_deref())) {
            return Ok(manifest);
        }
        Err(self.corrupt("its manifest is not what was written"))
    }

    /// Gives a fresh index the id of the collection that it is a clone of.
    ///
    /// # Errors
    ///
    /// If the records cannot be written.
    pub fn set_collection(&mut self, collection: CollectionId) -> Result<()> {
        self.set_in_manifest("UPDATE manifest SET collection = ?1", [collection.as_bytes()])
    }

    /// Keeps the fingerprint of the options that make passages.
    ///
    /// # Errors
    ///
    /// If the records cannot be written.
    pub fn set_chunking(&mut self, fingerprint: &str) -> Result<()> {
        // A run that changes nothing writes nothing.
        if self.manifest()?.chunking.as_deref() == Some(fingerprint) {
            return Ok(());
        }
        self.set_in_manifest("UPDATE manifest SET chunking = ?1", [fingerprint])
    }

    fn set_in_manifest(&mut self, sql: &str, params: impl Params) -> Result<()> {
        // Earlier damage must not get a valid digest.
        self.manifest()?;
        self.write(|transaction| {
            transaction.execute(sql, params)?;
            seal_manifest(transaction)
        })
    }

    /// Returns where the model of the embedder was when the index was made, if it has one that can be read.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn model_place(&self) -> Result<Option<EmbedderPlace>> {
        // An empty hint is not damage.
        Ok(self.place()?.and_then(|place| serde_json::from_str(&place).ok()))
    }

    fn place(&self) -> Result<Option<String>> {
        let read = |row: &Row<'_>| row.get::<_, Option<String>>(0);
        self.manifest()?;
        self.connection.query_row("SELECT place FROM manifest", [], read).map_err(Error::records("read"))
    }

    /// Keeps where the model of the embedder is.
    ///
    /// # Errors
    ///
    /// If the records cannot be written.
    pub fn set_model_place(&mut self, place: Option<&EmbedderPlace>) -> Result<()> {
        // A path that is not text cannot be kept, and has to be given again.
        let place = place.and_then(|place| serde_json::to_string(place).ok());
        if self.place()? == place {
            return Ok(());
        }
        self.set_in_manifest("UPDATE manifest SET place = ?1", [place])
    }

    /// Returns the sources that the last run left out.
    ///
    /// # Errors
    ///
    /// If the records cannot be read.
    pub fn skips(&self) -> Result<Vec<Skip>> {
        let sql = if self.has_digests() {
            "SELECT source, reason, digest FROM skips ORDER BY skip"
        } else {
            "SELECT source, reason, NULL FROM skips ORDER BY skip"
        };
        let read = |row: &Row<'_>| Ok((Skip { source: row.get(0)?, reason: row.get(1)? }, kept(row, 2)?));
        let rows = self.read_all(sql, read).map_err(Error::records("read"))?;
        let known = |(skip, kept): (Skip, Option<Digest>)| {
            if digest::is_right(self.format, kept, || digest::skip(&skip)) {
                return Ok(skip);
            }
            Err(self.corrupt("what the last run left out is not what was written"))
        };
        rows.into_iter().map(known).collect()
    }

    /// Keeps the sources that a run left out, replacing those of the last one.
    ///
    /// # Errors
    ///
    /// If the records cannot be written.
    pub fn set_skips(&mut self, skips: &[Skip]) -> Result<()> {
        // Those that cannot be read are of no more use than those of an earlier run.
        if self.skips().is_ok_and(|kept| kept == skips) {
            return Ok(());
        }
        self.write(|transaction| {
            transaction.execute("DELETE FROM skips", [])?;
            let mut insert = transaction.prepare("INSERT INTO skips (source, reason, digest) VALUES (?1, ?2, ?3)")?;
            skips.iter().try_for_each(|it| insert.execute(params![it.source, it.reason, digest::skip(it)]).map(drop))
        })
    }

    /// Begins the check that precedes the first write, beside the work before it.
    pub(crate) fn expect_write(&mut self) {
        if self.is_looked_through || self.is_write_expected {
            return;
        }
        self.is_write_expected = true;
        match PageCheck::begin(&self.path) {
            Ok(check) => self.page_check = Some(check),
            Err(error) => tracing::debug!(%error, "pages are checked before the first write"),
        }
    }

    /// Ensures, once, that no page of the database is used twice.
    fn look_through(&mut self) -> Result<()> {
        if self.is_looked_through {
            return Ok(());
        }
        if !self.page_check.take().is_some_and(PageCheck::finish) {
            // It says what is wrong, if anything is.
            let said = pages::check(&self.connection).map_err(Error::records("read"))?;
            if said != pages::WHOLE {
                return Err(self.corrupt(said));
            }
        }
        self.is_looked_through = true;
        Ok(())
    }

    /// Runs `change` in one transaction. It waits for readers from the start: one that finds the log half written looks
    /// at it alone, and a transaction that had begun to read would fail instead of waiting.
    fn write<T>(&mut self, change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T> {
        self.look_through()?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = transaction.map_err(Error::records("write"))?;
        let changed = change(&transaction).map_err(Error::records("write"))?;
        transaction.commit().map_err(Error::records("write"))?;
        Ok(changed)
    }

    fn read_all<T>(&self, sql: &str, read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>) -> rusqlite::Result<Vec<T>> {
        self.connection.prepare(sql)?.query_map([], read)?.collect()
    }
}

/// The columns that [`read_manifest`] takes.
const MANIFEST: &str = "format, embedder, dimension, chunking, changed, current, place, collection, digest";

/// The row of the manifest.
struct ManifestRow {
    format: u32,
    manifest: Manifest,
    place: Option<String>,
    digest: Option<Digest>,
}

fn read_manifest(row: &Row<'_>) -> rusqlite::Result<ManifestRow> {
    let manifest = Manifest {
        // Some records do not say it yet; then it is found elsewhere.
        collection: CollectionId::from_bytes(kept(row, 7)?.unwrap_or_default()),
        embedder: row.get(1)?,
        dimension: row.get::<_, u32>(2)? as usize,
        chunking: row.get(3)?,
        is_changed: row.get(4)?,
        current: row.get::<_, Option<i64>>(5)?.map(to_version),
    };
    Ok(ManifestRow { format: row.get(0)?, manifest, place: row.get(6)?, digest: kept(row, 8)? })
}

/// Gives the manifest the digest of its new contents.
fn seal_manifest(connection: &Connection) -> rusqlite::Result<()> {
    let row = connection.query_row(&format!("SELECT {MANIFEST} FROM manifest"), [], read_manifest)?;
    let digest = digest::manifest(&row.manifest, row.format, row.place.as_deref());
    connection.execute("UPDATE manifest SET digest = ?1", [digest]).map(drop)
}

/// Returns the digest in a column, if there is one.
fn kept(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Digest>> {
    Ok(row.get_ref(column)?.as_blob_or_null()?.and_then(|kept| kept.try_into().ok()))
}

fn to_version(number: i64) -> IndexVersion {
    IndexVersion(number.cast_unsigned())
}

/// Returns an id or hash of `N` bytes from a column.
fn bytes<const N: usize>(row: &Row<'_>, column: usize) -> rusqlite::Result<[u8; N]> {
    row.get::<_, [u8; N]>(column)
}

/// Returns the JSON value of a column.
fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|error| damaged(column, Type::Text, error))
}

/// Returns the error of a column whose contents are not what was written.
fn damaged(column: usize, kind: Type, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, kind, why.into())
}

/// Rows of a transaction between two looks at whether to continue.
const ROWS_BETWEEN_LOOKS: usize = 4_096;

/// Ends a transaction like an interrupt, if a stop was requested; checks once in many rows.
fn look(cancellation: &Cancellation, row: usize) -> rusqlite::Result<()> {
    if row % ROWS_BETWEEN_LOOKS == ROWS_BETWEEN_LOOKS - 1 && cancellation.is_cancelled() {
        let interrupted = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_INTERRUPT);
        return Err(rusqlite::Error::SqliteFailure(interrupted, None));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
