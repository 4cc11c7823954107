//! Opens a database that somebody else may have made: nothing in it runs, and its sizes are bounded.

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

/// Bytes of a row, or of a text in one. A document with a longer text cannot be kept.
const ROW_BYTES_MAX: i32 = 1_000_000_000;
/// Bytes of a statement, those that a schema holds among them: ours are far below.
const STATEMENT_BYTES_MAX: i32 = 64 << 10;
/// Columns of a table, or of a result.
const COLUMNS_MAX: i32 = 64;
/// Attached databases: one, which `VACUUM` needs.
const ATTACHED_MAX: i32 = 1;

/// Everything that a schema has, in order: type, name, table and statement of each.
pub(super) type Schema = Vec<(String, String, String, Option<String>)>;

/// Makes a connection treat its database as data: triggers and views do not run, the schema calls no function and can
/// be changed only through SQL, and pages are checked before use.
pub(super) fn distrust(connection: &Connection) -> rusqlite::Result<()> {
    let settings = [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
    ];
    for (setting, value) in settings {
        connection.set_db_config(setting, value)?;
    }
    let limits = [
        (Limit::SQLITE_LIMIT_LENGTH, ROW_BYTES_MAX),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, STATEMENT_BYTES_MAX),
        (Limit::SQLITE_LIMIT_COLUMN, COLUMNS_MAX),
        (Limit::SQLITE_LIMIT_ATTACHED, ATTACHED_MAX),
    ];
    for (limit, value) in limits {
        connection.set_limit(limit, value)?;
    }
    connection.pragma_update(None, "cell_size_check", true)
}

/// Returns the schema of a database, the parts that it makes of itself included.
pub(super) fn schema(connection: &Connection) -> rusqlite::Result<Schema> {
    const SQL: &str = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name, tbl_name, sql";
    let mut statement = connection.prepare(SQL)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    rows.collect()
}

/// Returns the schema that statements make in an empty database: each is kept as it was written.
pub(super) fn schema_of(statements: &str) -> rusqlite::Result<Schema> {
    let empty = Connection::open_in_memory()?;
    empty.execute_batch(statements)?;
    schema(&empty)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_database_runs() {
        let connection = Connection::open_in_memory().unwrap();
        let made = "CREATE TABLE a (b); CREATE TABLE c (d); CREATE VIEW e AS SELECT b FROM a; \
             CREATE TRIGGER sqlitexx AFTER INSERT ON a BEGIN INSERT INTO c VALUES (1); END";
        connection.execute_batch(made).unwrap();
        distrust(&connection).unwrap();
        connection.execute("INSERT INTO a VALUES (1)", []).unwrap();
        let count = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        assert_eq!(count("SELECT count(*) FROM c"), Ok(0));
        assert!(count("SELECT count(*) FROM e").is_err());
        assert!(connection.execute_batch("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema").is_err());
        // A schema is compared as it was written, whatever the names in it.
        assert_ne!(schema(&connection), schema_of("CREATE TABLE a (b); CREATE TABLE c (d)"));
        assert_eq!(schema_of("CREATE TABLE a (b)"), schema_of("CREATE TABLE a (b)"));
    }
}
