//! Ensures that the records have exactly the tables and indexes of this program, and nothing else.

use std::sync::OnceLock;

use super::super::hardening::{self, Schema};
use super::migrate;

/// The tables and indexes of [`INDEX_FORMAT`](super::INDEX_FORMAT).
pub(super) const SCHEMA: &str = include_str!("schema.sql");
/// Those of the formats before.
const SCHEMA_6: &str = include_str!("schema-6.sql");
const SCHEMA_5: &str = include_str!("schema-5.sql");
const SCHEMA_4: &str = include_str!("schema-4.sql");
const SCHEMA_3: &str = include_str!("schema-3.sql");

/// Returns the schema of the records in a format.
pub(super) fn due(format: u32) -> rusqlite::Result<&'static Schema> {
    static KNOWN: [OnceLock<Schema>; 5] = [const { OnceLock::new() }; 5];
    let [current, six, five, four, three] = &KNOWN;
    let (known, statements) = match format {
        migrate::WITHOUT_DIGESTS => (three, SCHEMA_3),
        migrate::WITHOUT_POSITIONS => (four, SCHEMA_4),
        migrate::WITHOUT_EXTRACTIONS => (five, SCHEMA_5),
        migrate::WITHOUT_SUMMARIES => (six, SCHEMA_6),
        _ => (current, SCHEMA),
    };
    if let Some(schema) = known.get() {
        return Ok(schema);
    }
    let schema = hardening::schema_of(statements)?;
    Ok(known.get_or_init(|| schema))
}

/// Returns the statements that make a table of [`SCHEMA`] and its indexes.
pub(super) fn statements(table: &str) -> rusqlite::Result<Vec<&'static str>> {
    let schema = due(super::INDEX_FORMAT)?;
    let of_kind = |kind: &'static str| {
        let of_table = schema.iter().filter(move |(found, _, name, _)| found == kind && name == table);
        of_table.filter_map(|(.., sql)| sql.as_deref())
    };
    Ok(of_kind("table").chain(of_kind("index")).collect())
}
