//! The inputs of the fuzz targets that depend on the format of an index: made anew whenever that changes, by
//! `cargo test --test torture -- --seeds`.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::must;

/// Bytes of a page of the database: small, so that the repository does not keep empty ones.
const PAGE_BYTES: u32 = 512;

/// Writes them into the corpora, and returns which.
pub(crate) fn write() -> Vec<PathBuf> {
    let folder = TempDir::new().unwrap();
    let note = "Harl Mill\n\nHarl Mill was built by Ada Lorne. It burned down twice.";
    fs::create_dir(folder.path().join("notes")).unwrap();
    fs::write(folder.path().join("notes/mill.txt"), note).unwrap();
    fs::write(folder.path().join("notes/ada.txt"), "Ada Lorne\n\nAda Lorne saw Harl Mill burn. Who lit it?").unwrap();
    must(folder.path(), &["index", "notes"]);
    let status: Value = serde_json::from_slice(&must(folder.path(), &["status", "--json"]).stdout).unwrap();
    let count = |name: &str| status["counts"][name].as_u64().unwrap_or_else(|| panic!("no count of {name}: {status}"));
    let counts = ["documents", "passages", "sentences", "incoming", "outgoing"].map(|name| count(name) as u16);
    // A hierarchy knows entities in place of documents.
    let of_hierarchy = [count("entities") as u16, counts[1], counts[2], counts[3], counts[4]];
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    let mut written = Vec::new();
    for (kind, name) in ["graph.bin", "texts.bin", "vectors.bin", "hierarchy.bin"].into_iter().enumerate() {
        let mut input = vec![kind as u8];
        for count in if name == "hierarchy.bin" { of_hierarchy } else { counts } {
            input.extend(count.to_le_bytes());
        }
        input.extend(fs::read(folder.path().join(".cairn/versions/1").join(name)).unwrap());
        written.push(keep(&corpora.join("index_files").join(name), &input));
        input.truncate(input.len() / 2);
        written.push(keep(&corpora.join("index_files").join(format!("half-of-{name}")), &input));
    }
    let path = folder.path().join(".cairn/cairn.db");
    let records = Connection::open(&path).unwrap();
    // What is laid out anew can have no log beside it.
    records.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).unwrap();
    records.pragma_update(None, "page_size", PAGE_BYTES).unwrap();
    records.execute_batch("VACUUM").unwrap();
    drop(records);
    let whole = fs::read(&path).unwrap();
    written.push(keep(&corpora.join("records/whole.db"), &whole));
    written.push(keep(&corpora.join("records/first-page.db"), &whole[..PAGE_BYTES as usize]));
    written
}

fn keep(path: &Path, bytes: &[u8]) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    path.to_owned()
}
