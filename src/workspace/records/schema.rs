//! What the database holds beside rows: exactly the tables and indexes that this program makes, and nothing else.

use std::sync::OnceLock;

use rusqlite::Connection;

use super::migrate;

/// The tables and indexes of [`INDEX_FORMAT`](super::INDEX_FORMAT).
pub(super) const SCHEMA: &str = include_str!("schema.sql");
/// Those of the format before.
const SCHEMA_3: &str = include_str!("schema-3.sql");

/// Everything that a schema has, in order: type, name, table and statement of each.
pub(super) type Schema = Vec<(String, String, String, Option<String>)>;

/// Returns the schema of a database, the parts that it makes of itself included.
pub(super) fn of(connection: &Connection) -> rusqlite::Result<Schema> {
    const SQL: &str = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name, tbl_name, sql";
    let mut statement = connection.prepare(SQL)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    rows.collect()
}

/// Returns the schema of the records in a format: the database keeps each statement as it was written, so that an empty
/// one that is made by the same statements has the same.
pub(super) fn due(format: u32) -> rusqlite::Result<&'static Schema> {
    static CURRENT: OnceLock<Schema> = OnceLock::new();
    static OLDER: OnceLock<Schema> = OnceLock::new();
    let (known, statements) =
        if format == migrate::WITHOUT_COLLECTION { (&OLDER, SCHEMA_3) } else { (&CURRENT, SCHEMA) };
    if let Some(schema) = known.get() {
        return Ok(schema);
    }
    let empty = Connection::open_in_memory()?;
    empty.execute_batch(statements)?;
    let schema = of(&empty)?;
    Ok(known.get_or_init(|| schema))
}

/// Returns the statement that makes a table of [`SCHEMA`].
pub(super) fn statement(table: &str) -> rusqlite::Result<&'static str> {
    let schema = due(super::INDEX_FORMAT)?;
    let found = schema.iter().find(|(kind, name, ..)| kind == "table" && name == table);
    found.and_then(|(.., sql)| sql.as_deref()).ok_or(rusqlite::Error::QueryReturnedNoRows)
}
