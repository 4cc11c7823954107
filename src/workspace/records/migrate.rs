//! Records of an older format, brought to that of this program in one transaction: killed at any moment, they are in one
//! format or the other.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::{INDEX_FORMAT, Records, connection, schema};
use crate::domain::CollectionId;
use crate::error::Result;

/// The format whose manifest names no collection.
pub(super) const WITHOUT_COLLECTION: u32 = 3;

impl Records {
    /// Brings the records to [`INDEX_FORMAT`]. The files of versions stay as they are: they are read in either format.
    pub(super) fn migrate(&mut self) -> Result<()> {
        let path = self.path.clone();
        self.write(|transaction| {
            name_collection(transaction, &path)?;
            transaction.pragma_update(None, "user_version", INDEX_FORMAT)
        })?;
        tracing::info!(from = self.format, to = INDEX_FORMAT, "records migrated");
        self.format = self.check_format()?;
        Ok(())
    }
}

/// Returns the id of a collection in records that do not say it: of its last version, since no two were made at one
/// time with equal files. Thus readers know it before a writer has written it down.
pub(super) fn collection(connection: &Connection) -> rusqlite::Result<CollectionId> {
    Ok(collection_of_version(connection)?.unwrap_or_else(|| CollectionId::of(&[])))
}

fn collection_of_version(connection: &Connection) -> rusqlite::Result<Option<CollectionId>> {
    const SQL: &str = "SELECT created_at, files FROM versions ORDER BY version DESC LIMIT 1";
    let id = |row: &rusqlite::Row<'_>| {
        let (created_at, files): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(CollectionId::of(&[created_at.as_bytes(), files.as_bytes()]))
    };
    connection.query_row(SQL, [], id).optional()
}

/// Makes the manifest anew, with the id of the collection.
fn name_collection(transaction: &Transaction<'_>, path: &std::path::Path) -> rusqlite::Result<()> {
    let collection = collection_of_version(transaction)?.unwrap_or_else(|| connection::fresh_collection(path));
    // By way of a copy, so that the table is made by the statement of a new index, to the letter.
    transaction.execute_batch("CREATE TEMP TABLE kept AS SELECT * FROM main.manifest; DROP TABLE main.manifest")?;
    transaction.execute_batch(schema::statement("manifest")?)?;
    transaction.execute(
        "INSERT INTO manifest (one, format, collection, embedder, dimension, place, chunking, changed, current) \
         SELECT one, ?1, ?2, embedder, dimension, place, chunking, changed, current FROM temp.kept",
        params![INDEX_FORMAT, collection.as_bytes()],
    )?;
    transaction.execute_batch("DROP TABLE temp.kept")
}
