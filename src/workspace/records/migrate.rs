//! Migrates records of an older format in one transaction: killed at any moment, they are in one format or the other.

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

use super::read::Read;
use super::survey;
use super::unit::{Mark, STAGE};
use super::{Digest, INDEX_FORMAT, Records, connection, digest, schema, seal_manifest};
use crate::domain::{CollectionId, Skip};
use crate::error::{Error, Result};

/// The last format whose records have no digests and whose manifest names no collection.
pub(super) const WITHOUT_DIGESTS: u32 = 3;
/// The last format whose documents do not say where lines and pages begin in them.
pub(super) const WITHOUT_POSITIONS: u32 = 4;
/// The last format without tables for a model's extractions, merges and splits of names, and removals.
pub(super) const WITHOUT_EXTRACTIONS: u32 = 5;
/// The last format whose reports are about communities alone.
pub(super) const WITHOUT_SUMMARIES: u32 = 6;
/// Tables that formats up to the one before lack.
const OF_EXTRACTIONS: [&str; 5] = ["extractions", "entity_types", "reports", "name_pairs", "removed"];
/// The placeholder for the digest of a row that was damaged already: no digest equals it.
const DAMAGED: Digest = [0; 16];
/// Tables that are rebuilt, because they have columns that older ones lack. References use row numbers, which stay.
type Changed = [(&'static str, &'static str)];
/// Those of all formats before.
const WITH_POSITIONS: &Changed = &[(
    "documents",
    "SELECT document, id, content, root, source_id, title, uri, media_type, metadata, NULL, text FROM temp.kept",
)];
/// Those of formats whose reports are about communities alone.
const WITH_SUMMARIES: &Changed = &[("reports", "SELECT * FROM temp.kept")];
/// Those of formats without digests.
const WITH_DIGESTS: &Changed = &[
    ("passages", "SELECT *, x'' FROM temp.kept"),
    ("units", "SELECT *, NULL, x'' FROM temp.kept"),
    ("spending", "SELECT *, x'' FROM temp.kept"),
    ("versions", "SELECT *, x'' FROM temp.kept"),
    ("skips", "SELECT *, x'' FROM temp.kept"),
];

impl Records {
    /// Brings the records to [`INDEX_FORMAT`]. The files of versions stay as they are: they are read in either format.
    pub(super) fn migrate(&mut self) -> Result<()> {
        let wrong = || Error::records("migrate");
        self.look_through()?;
        let transaction =
            Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate).map_err(wrong())?;
        if self.has_digests() {
            if !self.has_positions() {
                make_anew(&transaction, WITH_POSITIONS).map_err(wrong())?;
            }
            // Digests of documents without positions do not change.
            transaction.execute("UPDATE manifest SET format = ?1", [INDEX_FORMAT]).map_err(wrong())?;
            seal_manifest(&transaction).map_err(wrong())?;
        } else {
            self.add_digests(&transaction)?;
        }
        if self.has_extractions() {
            make_anew(&transaction, WITH_SUMMARIES).map_err(wrong())?;
        } else {
            OF_EXTRACTIONS.iter().try_for_each(|table| make(&transaction, table)).map_err(wrong())?;
        }
        transaction.pragma_update(None, "user_version", INDEX_FORMAT).map_err(wrong())?;
        transaction.commit().map_err(wrong())?;
        tracing::info!(from = self.format, to = INDEX_FORMAT, "records migrated");
        self.format = self.check_format()?;
        Ok(())
    }

    /// Brings records without digests to the format of today.
    fn add_digests(&self, transaction: &Connection) -> Result<()> {
        let wrong = || Error::records("migrate");
        let collection = match collection_of_version(transaction).map_err(wrong())? {
            Some(collection) => collection,
            None => connection::fresh_collection(&self.path),
        };
        // Nothing reads them: a version has them in its files.
        transaction.execute_batch("DROP TABLE entities; DROP TABLE mentions; DROP TABLE edges").map_err(wrong())?;
        make_anew(transaction, WITH_DIGESTS).map_err(wrong())?;
        remake_manifest(transaction, collection).map_err(wrong())?;
        // As these are read before their table is rebuilt, they are sealed before.
        self.seal_documents()?;
        make_anew(transaction, WITH_POSITIONS).map_err(wrong())?;
        seal_rows(transaction).map_err(wrong())
    }

    /// Gives documents and passages the digests of their current contents. Rows that contradict their own ids get an
    /// invalid one.
    fn seal_documents(&self) -> Result<()> {
        let wrong = || Error::records("migrate");
        let rows = self.read_all("SELECT document FROM documents", |row| row.get::<_, i64>(0)).map_err(wrong())?;
        let prepare = |sql| self.connection.prepare(sql).map_err(Error::records("migrate"));
        let mut passages = prepare("UPDATE passages SET digest = ?2 WHERE id = ?1")?;
        let mut documents = prepare("UPDATE units SET content = ?2 WHERE stage = ?3 AND key = ?1")?;
        let mut read = Read::new(self)?;
        for row in rows {
            // One that cannot be read stays without a digest, and is named when it is read the next time.
            let Ok(unit) = read.unit(row) else { continue };
            for it in &unit.passages {
                let digest = digest::questions(it.passage.id, it.writer.as_deref(), &it.questions);
                passages.execute(params![it.passage.id.as_bytes(), digest]).map_err(wrong())?;
            }
            let content = if survey::ids(&unit).is_empty() { digest::document(&unit) } else { DAMAGED };
            documents.execute(params![unit.document.id.as_bytes(), content, STAGE]).map_err(wrong())?;
        }
        Ok(())
    }
}

/// Returns the id of a collection in records that do not say it: of its last version, since no two were made at once
/// with equal files. Thus readers know it before a writer has written it down.
pub(super) fn collection(connection: &Connection) -> rusqlite::Result<CollectionId> {
    Ok(collection_of_version(connection)?.unwrap_or_else(|| CollectionId::of(&[])))
}

fn collection_of_version(connection: &Connection) -> rusqlite::Result<Option<CollectionId>> {
    const SQL: &str = "SELECT created_at, files FROM versions ORDER BY version DESC LIMIT 1";
    let id = |row: &Row<'_>| {
        let (created_at, files): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(CollectionId::of(&[created_at.as_bytes(), files.as_bytes()]))
    };
    connection.query_row(SQL, [], id).optional()
}

/// Makes tables by the statements of a new index, to the letter, and fills them as they were.
fn make_anew(connection: &Connection, changed: &Changed) -> rusqlite::Result<()> {
    for (table, rows) in changed {
        keep(connection, table)?;
        connection.execute_batch(&format!("INSERT INTO main.{table} {rows}; DROP TABLE temp.kept"))?;
    }
    Ok(())
}

/// Moves the rows of a table aside, and makes it again, empty.
fn keep(connection: &Connection, table: &str) -> rusqlite::Result<()> {
    connection
        .execute_batch(&format!("CREATE TEMP TABLE kept AS SELECT * FROM main.{table}; DROP TABLE main.{table}"))?;
    make(connection, table)
}

/// Makes a table by the statements of a new index.
fn make(connection: &Connection, table: &str) -> rusqlite::Result<()> {
    schema::statements(table)?.iter().try_for_each(|statement| connection.execute_batch(statement))
}

fn remake_manifest(connection: &Connection, collection: CollectionId) -> rusqlite::Result<()> {
    keep(connection, "manifest")?;
    connection.execute(
        "INSERT INTO manifest SELECT one, ?1, ?2, embedder, dimension, place, chunking, changed, current, x'' \
         FROM temp.kept",
        params![INDEX_FORMAT, collection.as_bytes()],
    )?;
    connection.execute_batch("DROP TABLE temp.kept")?;
    seal_manifest(connection)
}

/// Gives all rows with digests the digest of their contents.
fn seal_rows(connection: &Connection) -> rusqlite::Result<()> {
    let each = |sql: &str, seal: &dyn Fn(&Row<'_>) -> rusqlite::Result<Digest>, update: &str| {
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, seal(row)?)))?;
        let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        let mut update = connection.prepare(update)?;
        rows.into_iter().try_for_each(|(row, digest)| update.execute(params![row, digest]).map(drop))
    };
    let mark = |row: &Row<'_>| Mark::read(row, 1).map(|(mark, _)| digest::mark(&mark));
    let units = "SELECT unit, stage, key, fingerprint, state, reason, content, digest FROM units";
    each(units, &mark, "UPDATE units SET digest = ?2 WHERE unit = ?1")?;
    let version = |row: &Row<'_>| {
        let texts = [row.get::<_, String>(1)?, row.get(2)?, row.get(3)?];
        Ok(digest::version(row.get::<_, i64>(0)?.cast_unsigned(), &texts[0], &texts[1], &texts[2]))
    };
    let versions = "SELECT version, created_at, counts, files FROM versions";
    each(versions, &version, "UPDATE versions SET digest = ?2 WHERE version = ?1")?;
    let skip = |row: &Row<'_>| Ok(digest::skip(&Skip { source: row.get(1)?, reason: row.get(2)? }));
    each("SELECT skip, source, reason FROM skips", &skip, "UPDATE skips SET digest = ?2 WHERE skip = ?1")?;
    super::written::seal_spending(connection)
}
