//! The inputs of fuzz targets that depend on the format of an index: regenerated, when that changes, by `cargo test
//! --test torture -- --seeds`.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::{must, must_with};
use crate::support::chat::{ChatServer, Play, Reply, Thought};

/// Bytes of a page of the database: small, so that the repository does not contain empty ones.
const PAGE_BYTES: u32 = 512;

/// Writes them into the corpora, and returns which.
pub(crate) fn write() -> Vec<PathBuf> {
    let folder = TempDir::new().unwrap();
    let note = "Harl Mill\n\nHarl Mill was built by Ada Lorne. It burned down twice.";
    fs::create_dir(folder.path().join("notes")).unwrap();
    fs::write(folder.path().join("notes/mill.txt"), note).unwrap();
    fs::write(folder.path().join("notes/ada.txt"), "Ada Lorne\n\nAda Lorne saw Harl Mill burn. Who lit it?").unwrap();
    let server = ChatServer::start([model()]);
    let by_model = ["index", "notes", "--model", "played", "--extract", "--rule-questions", "--summaries", "--reports"];
    must_with(folder.path(), &by_model, &[("CAIRN_MODEL_URL", &server.url)]);
    let status: Value = serde_json::from_slice(&must(folder.path(), &["status", "--json"]).stdout).unwrap();
    let count = |name: &str| status["counts"][name].as_u64().unwrap_or_else(|| panic!("no count of {name}: {status}"));
    let counts = ["documents", "passages", "sentences", "incoming", "outgoing"].map(|name| count(name) as u16);
    let [documents, passages, sentences, incoming, outgoing] = counts;
    let of_hierarchy = |name: &str| status["counts"]["hierarchy"][name].as_u64().unwrap() as u16;
    let (entities, mentions) = (count("entities") as u16, count("mentions") as u16);
    // The files of each target: see `workspace::fuzzed`.
    let files = [
        ("graph.bin", counts),
        ("texts.bin", counts),
        ("vectors.bin", counts),
        ("hierarchy.bin", [entities, passages, sentences, incoming, outgoing]),
        ("resolution.bin", [entities, documents, sentences, incoming, outgoing]),
        ("descriptions.bin", [entities, mentions, sentences, of_hierarchy("relations"), of_hierarchy("communities")]),
        ("matches.bin", counts),
    ];
    let files = files.map(|(name, counts)| (folder.path().join(".cairn/versions/1").join(name), counts));
    let changed = changed(folder.path());
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    let mut written = Vec::new();
    for (kind, (path, counts)) in files.into_iter().chain(changed).enumerate() {
        let mut input = vec![kind as u8];
        for count in counts {
            input.extend(count.to_le_bytes());
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        input.extend(fs::read(&path).unwrap());
        written.push(keep(&corpora.join("index_files").join(name), &input));
        input.truncate(input.len() / 2);
        written.push(keep(&corpora.join("index_files").join(format!("half-of-{name}")), &input));
    }
    let path = folder.path().join(".cairn/cairn.db");
    let records = Connection::open(&path).unwrap();
    // A database that is rebuilt can have no log.
    records.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).unwrap();
    records.pragma_update(None, "page_size", PAGE_BYTES).unwrap();
    records.execute_batch("VACUUM").unwrap();
    drop(records);
    let whole = fs::read(&path).unwrap();
    written.push(keep(&corpora.join("records/whole.db"), &whole));
    written.push(keep(&corpora.join("records/first-page.db"), &whole[..PAGE_BYTES as usize]));
    written
}

/// Makes an index in which one of several notes changed, and returns the files used for a change, with their counts.
fn changed(folder: &Path) -> [(PathBuf, [u16; 5]); 2] {
    fs::create_dir(folder.join("quays")).unwrap();
    for number in 0..9 {
        let text = format!("Quay {number}\n\nThe quay burned in 180{number}. It stands again.");
        fs::write(folder.join(format!("quays/{number}.txt")), text).unwrap();
    }
    must(folder, &["index", "quays", "--index", "changed"]);
    fs::write(folder.join("quays/3.txt"), "Quay 3\n\nThe quay was sold.").unwrap();
    must(folder, &["index", "quays", "--index", "changed"]);
    let status: Value =
        serde_json::from_slice(&must(folder, &["status", "--index", "changed", "--json"]).stdout).unwrap();
    let counts = |names: [&str; 5]| names.map(|name| status["counts"][name].as_u64().unwrap() as u16);
    [
        ("segments.bin", counts(["documents", "passages", "sentences", "incoming", "outgoing"])),
        ("names.bin", counts(["documents", "passages", "entities", "sentences", "outgoing"])),
    ]
    .map(|(name, counts)| (folder.join("changed/versions/2").join(name), counts))
}

/// A model that finds who built the mill, and writes the same about every topic and cluster.
fn model() -> Play {
    Play::Thinks(Thought::new(|body| {
        let skill = body["response_format"]["json_schema"]["name"].as_str().unwrap();
        let entity = |name: &str, kind: &str| json!({ "name": name, "type": kind, "description": "It is named." });
        let text = match skill {
            "report" => {
                let finding = json!({ "text": "Ada Lorne built it.", "sentences": [1] });
                json!({ "title": "A mill", "summary": "It burned.", "rating": 3, "findings": [finding] })
            }
            "summarize" => {
                let summary =
                    json!({ "name": "Mills", "type": "place", "description": "They burn.", "sentences": [1] });
                json!({ "summaries": [summary] })
            }
            _ => {
                let relation = json!({ "source": "Ada Lorne", "target": "Harl Mill", "description": "They meet.",
                    "strength": 7, "evidence": "Ada Lorne" });
                let entities = [entity("Harl Mill", "place"), entity("Ada Lorne", "person")];
                json!({ "entities": entities, "relations": [relation] })
            }
        };
        Reply { text: text.to_string(), tokens: (100, 50) }
    }))
}

fn keep(path: &Path, bytes: &[u8]) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    path.to_owned()
}
