//! Records with odd values: every column of every table set to values that no run writes, missing rows, and foreign
//! schemas.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Value;

use super::{chosen, templates, withstands};
use crate::run::{Run, Tally};
use crate::template::Template;

const RECORDS: &str = "cairn.db";

/// A change to the records, as SQL, and the value that it uses.
struct Change {
    sql: String,
    value: Option<Value>,
    shown: String,
}

/// Changes to tables other than their values.
const SCHEMAS: [&str; 14] = [
    "CREATE TRIGGER sqlitexx AFTER INSERT ON documents BEGIN DELETE FROM passages; END",
    "CREATE TRIGGER z AFTER INSERT ON units BEGIN UPDATE manifest SET current = 77; END",
    "CREATE TRIGGER z BEFORE UPDATE ON manifest BEGIN SELECT RAISE(IGNORE); END",
    "ALTER TABLE passages RENAME TO p; CREATE VIEW passages AS SELECT * FROM p",
    "CREATE VIEW x AS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT a FROM n",
    "ALTER TABLE skips RENAME TO s; \
     CREATE VIEW skips AS WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) \
     SELECT a AS skip, 'a' AS source, 'b' AS reason FROM n",
    "CREATE TABLE more (a)",
    "DROP TABLE skips",
    "DROP TABLE units",
    "DROP INDEX passages_of_document",
    "ALTER TABLE documents ADD COLUMN more TEXT",
    "PRAGMA user_version = 99",
    "PRAGMA application_id = 1",
    "PRAGMA journal_mode = DELETE",
];

pub(super) fn run(run: &Run) -> Tally {
    let templates = templates();
    let mut cases: Vec<(&Template, Change)> = Vec::new();
    for template in &templates {
        let index = template.path().join(".cairn");
        cases.extend(changes(&Connection::open(index.join(RECORDS)).unwrap()).into_iter().map(|it| (template, it)));
        // Reading created a log, which does not belong to the template.
        for companion in ["cairn.db-wal", "cairn.db-shm"] {
            drop(fs::remove_file(index.join(companion)));
        }
        let schema = |sql: &str| Change { sql: sql.to_owned(), value: None, shown: sql.to_owned() };
        cases.extend(SCHEMAS.map(|sql| (template, schema(sql))));
    }
    let cases = chosen(run, cases);
    run.each("crafted-tables", cases.len() as u64, |number, _, tally| {
        let (template, change) = &cases[number as usize];
        let folder = template.copy();
        if apply(&folder.path().join(".cairn").join(RECORDS), change) {
            withstands(template, folder.path(), &change.shown, tally);
        } else {
            tally.count("changes that the tables themselves refuse", 1);
        }
    })
}

fn apply(path: &Path, change: &Change) -> bool {
    let records = Connection::open(path).unwrap();
    let done = match &change.value {
        Some(value) => records.execute(&change.sql, [value]).map(drop),
        None => records.execute_batch(&change.sql),
    };
    done.is_ok()
}

/// Returns every change to the existing tables.
fn changes(records: &Connection) -> Vec<Change> {
    let list = |sql: &str| {
        let mut statement = records.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
        rows.map(Result::unwrap).collect::<Vec<_>>()
    };
    let tables =
        list("SELECT name, type FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'");
    let mut changes = Vec::new();
    for (table, _) in tables {
        for rows in ["", " WHERE rowid = (SELECT min(rowid) FROM {})", " WHERE rowid % 2 = 0"] {
            let rows = rows.replace("{}", &table);
            let sql = format!("DELETE FROM {table}{rows}");
            changes.push(Change { shown: sql.clone(), sql, value: None });
        }
        for (column, kind) in list(&format!("SELECT name, type FROM pragma_table_info('{table}')")) {
            for (shown, value) in odd(&kind) {
                for rows in ["", " WHERE rowid = (SELECT max(rowid) FROM {})"] {
                    let rows = rows.replace("{}", &table);
                    // Values that are not UTF-8 can only be written as bytes.
                    let is_bytes = kind == "TEXT" && matches!(value, Value::Blob(_));
                    let given = if is_bytes { "CAST(?1 AS TEXT)" } else { "?1" };
                    let sql = format!("UPDATE {table} SET {column} = {given}{rows}");
                    changes.push(Change { shown: format!("{sql} [{shown}]"), sql, value: Some(value.clone()) });
                }
            }
        }
    }
    changes
}

/// Returns odd values of a type, each with its description.
fn odd(kind: &str) -> Vec<(&'static str, Value)> {
    let text = |shown: &'static str| (shown, Value::Text(shown.to_owned()));
    match kind {
        "INTEGER" => vec![
            ("null", Value::Null),
            ("0", Value::Integer(0)),
            ("-1", Value::Integer(-1)),
            ("1", Value::Integer(1)),
            ("7", Value::Integer(7)),
            ("2^32-1", Value::Integer(0xffff_ffff)),
            ("2^32", Value::Integer(1 << 32)),
            ("the largest", Value::Integer(i64::MAX)),
            ("the smallest", Value::Integer(i64::MIN)),
        ],
        "REAL" => vec![
            ("null", Value::Null),
            ("not a number", Value::Real(f64::NAN)),
            ("infinite", Value::Real(f64::INFINITY)),
            ("huge and negative", Value::Real(-1e308)),
        ],
        "BLOB" => vec![
            ("no bytes", Value::Blob(Vec::new())),
            ("15 bytes", Value::Blob(vec![1; 15])),
            ("16 zeros", Value::Blob(vec![0; 16])),
            ("17 bytes", Value::Blob(vec![0xff; 17])),
            ("32 bytes", Value::Blob(vec![0xff; 32])),
            ("a megabyte", Value::Blob(vec![0xff; 1 << 20])),
        ],
        _ => vec![
            ("null", Value::Null),
            text(""),
            text("{"),
            text("null"),
            text("[]"),
            text("{}"),
            text(r#"{"passages":18446744073709551615,"documents":-1,"sentences":1e300}"#),
            text(r#"[{"path":"../../../outside/keep.txt","bytes":4,"blake3":""}]"#),
            text(r#"[{"path":"/dev/zero","bytes":9223372036854775807,"blake3":"00"}]"#),
            text("../../outside"),
            text("onnx:/dev/zero"),
            text("\u{1b}[2J\u{9b}31m\u{202e}\u{e0041}\0"),
            ("a megabyte of brackets", Value::Text("[".repeat(1 << 20))),
            ("a megabyte of letters", Value::Text("a".repeat(1 << 20))),
            ("no text", Value::Blob(vec![0xff, 0xfe, 0x80])),
        ],
    }
}
