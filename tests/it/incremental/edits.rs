//! Any sequence of edits leads to the index that a fresh run over the final state makes.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cairn::index::DocumentCounts;
use cairn::{Performers, QueryEngine, SearchOptions, Sources, Workspace};

use super::documents;
use crate::support::{Cli, Random, at_most, block_on, canonical, first_seed, harbor_files, has_segments, index};

const STEPS: usize = 8;
/// What is searched for at the end, and how.
const QUESTIONS: [&str; 3] = [
    "Where was the man who taught Edda Varnholt's father at college born?",
    "Who painted Heron Bridge?",
    "Port Halven",
];
const STRATEGIES: [&str; 4] = ["lexical", "hybrid", "hop", "trail"];
const RECORDS: &str = "records.jsonl";

/// A collection that is edited: files of text, and records by id in one file.
#[derive(Clone)]
pub(crate) struct Collection {
    files: BTreeMap<String, String>,
    records: Vec<(String, String)>,
    /// Documents that may still be added.
    spare: Vec<(String, String)>,
}

impl Collection {
    pub(crate) fn new() -> Self {
        let mut spare = harbor_files();
        let records = spare.remove(spare.iter().position(|(name, _)| name == RECORDS).unwrap()).1;
        let id = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].to_string();
        let records = records.lines().take(5).map(|line| (id(line), line.to_owned())).collect();
        let files = spare.drain(..7).collect();
        Self { files, records, spare }
    }

    /// Makes one edit; returns what it is and how many documents it adds, changes and removes.
    pub(crate) fn edit(&mut self, random: &mut Random) -> (&'static str, [u64; 3]) {
        let name = self.files.keys().nth(random.below(self.files.len())).unwrap().clone();
        let record = random.below(self.records.len());
        match random.below(9) {
            0 | 1 => {
                self.files.get_mut(&name).unwrap().push_str("\n\nHeron Bridge was painted by Thea Carrowe.\n");
                ("append", [0, 1, 0])
            }
            2 => {
                let text = self.files.get_mut(&name).unwrap();
                *text = text.replacen(". ", ". On the island of Sarrow this is well known. ", 1) + "\n";
                ("insert", [0, 1, 0])
            }
            3 => {
                let (name, text) = self.spare.pop().unwrap();
                self.files.insert(name, text);
                ("add", [1, 0, 0])
            }
            4 => {
                self.files.remove(&name);
                ("remove", [0, 0, 1])
            }
            5 => {
                let text = self.files.remove(&name).unwrap();
                self.files.insert(format!("moved/{name}"), text);
                ("rename", [1, 0, 1])
            }
            6 => {
                random.shuffle(&mut self.records);
                ("reorder", [0, 0, 0])
            }
            // Without records, the file would be empty, and one that is empty may be a failed write.
            7 if self.records.len() > 1 => {
                self.records.remove(record);
                ("remove a record", [0, 0, 1])
            }
            _ => {
                let (_, line) = &mut self.records[record];
                *line = line.replacen(".\"", ". It is told in Port Halven.\"", 1);
                ("change a record", [0, 1, 0])
            }
        }
    }

    pub(crate) fn write(&self, folder: &Path) {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
            _ => {}
        }
        for (name, text) in &self.files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let lines: Vec<&str> = self.records.iter().map(|(_, line)| line.as_str()).collect();
        fs::write(folder.join(RECORDS), lines.join("\n")).unwrap();
    }
}

/// Starts a run, and kills it at any moment.
pub(crate) fn kill_a_run(source: &Path, index: &Path, random: &mut Random) {
    let arguments = [OsStr::new("index"), source.as_os_str(), OsStr::new("--index"), index.as_os_str()];
    kill(&mut Cli::new().command(arguments), Duration::from_millis(300), random);
}

/// Starts the program, and kills it at any moment of this time; returns how it ended.
pub(crate) fn kill(command: &mut Command, within: Duration, random: &mut Random) -> ExitStatus {
    let mut program = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The moment itself is tested: there is nothing to wait for.
    thread::sleep(within.mul_f64(random.below(1000) as f64 / 1000.0));
    program.kill().unwrap();
    program.wait().unwrap()
}

/// Returns what searches find: passages and scores.
pub(crate) fn found(index: &Path) -> Vec<String> {
    let workspace = Workspace::open(index).unwrap();
    let engine = QueryEngine::open(&workspace, Performers::built_in()).unwrap();
    let mut found = Vec::new();
    for (question, strategy) in QUESTIONS.into_iter().flat_map(|it| STRATEGIES.map(|strategy| (it, strategy))) {
        let options = SearchOptions { strategy: strategy.parse().unwrap(), ..SearchOptions::default() };
        let hits = block_on(engine.search(question, &options)).unwrap().hits;
        found.extend(hits.iter().map(|hit| format!("{strategy} {} {}: {question}", hit.passage, hit.score)));
    }
    found
}

/// Edits a collection and indexes it; returns how many of the versions have segments.
fn check(seed: u64) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let [source, path, fresh] = ["harbor", "index", "fresh"].map(|name| folder.path().join(name));
    let sources = Sources::folder(&source);
    let mut random = Random::new(seed);
    let mut collection = Collection::new();
    collection.write(&source);
    index(&path, &sources);
    let (mut done, mut segmented) = (Vec::new(), 0);
    for _ in 0..STEPS {
        let before = (collection.files.len() + collection.records.len()) as u64;
        let (edit, [added, changed, removed]) = collection.edit(&mut random);
        done.push(edit);
        collection.write(&source);
        let is_killed = random.below(4) == 0;
        if is_killed {
            done.push("a killed run");
            kill_a_run(&source, &path, &mut random);
        }
        let report = index(&path, &sources);
        let (version, documents) = (report.version, report.documents);
        segmented += usize::from(has_segments(&path, version));
        let unchanged = before - changed - removed;
        let expect = DocumentCounts { added, changed, unchanged, removed, skipped: 0 };
        // How much of it a killed run did is not known.
        assert!(is_killed || documents == expect, "seed {seed}: {done:?}: {documents:?} instead of {expect:?}");
    }
    index(&fresh, &sources);
    assert!(canonical(&path) == canonical(&fresh), "seed {seed}: {done:?}");
    assert_eq!(found(&path), found(&fresh), "seed {seed}: {done:?}");
    segmented
}

/// `--test torture` goes on for as long as it is given.
#[test]
fn after_any_edits_the_index_is_that_of_the_final_state() {
    let began = Instant::now();
    let (mut seed, mut segmented) = (first_seed(), 0);
    while seed < first_seed() + 4 || began.elapsed() < at_most(Duration::ZERO) {
        segmented += check(seed);
        seed += 1;
    }
    assert!(segmented > 0, "no version has segments");
    println!("{} edits made", (seed - first_seed()) * STEPS as u64);
}

#[test]
fn records_without_ids_are_identified_by_their_lines() {
    let cli = Cli::new();
    let (mill, river) = (r#"{"text": "The mill stands."}"#, r#"{"id": "river", "text": "The river runs."}"#);
    let write = |lines: &[&str]| cli.write("notes/a.jsonl", lines.join("\n"));
    cli.write("notes/b.txt", "The quay is long.");
    write(&[mill, river]);
    assert_eq!(documents(&cli.json(&["index", "notes"])), [3, 0, 0, 0]);
    let found = cli.json(&["search", "mill"]);
    assert_eq!(found["hits"][0]["source_id"], "notes/a.jsonl:1", "{found:#}");
    let bridge = r#"{"text": "The bridge holds."}"#;
    write(&[mill, river, bridge]);
    assert_eq!(documents(&cli.json(&["index", "notes"])), [1, 0, 3, 0]);
    // One more line above them: records without ids become others, and the last line is gone.
    write(&[r#"{"text": "The ferry sails."}"#, mill, river, bridge]);
    assert_eq!(documents(&cli.json(&["index", "notes"])), [2, 1, 2, 1]);
    // Records that can no longer be read are kept.
    write(&["no record"]);
    assert_eq!(documents(&cli.json(&["index", "notes"])), [0, 0, 5, 0]);
    let found = cli.json(&["search", "mill"]);
    assert_eq!(found["hits"][0]["source_id"], "notes/a.jsonl:2", "{found:#}");
}

/// A name changes nothing else that a version is made of.
#[test]
fn a_file_with_another_name_leaves_for_the_next_version_what_a_clean_build_does() {
    let cli = Cli::new();
    cli.write(
        "notes/a.md",
        "# Harl Mill\n\nHarl Mill was built by Ada Lund in 1790. Its wheel came from Port Halven.\n",
    );
    cli.write("notes/b.md", "# Ada Lund\n\nAda Lund was born in Port Halven. She ran Harl Mill until 1801.\n");
    cli.json(&["index", "notes"]);
    fs::rename(cli.folder().join("notes/b.md"), cli.folder().join("notes/c.md")).unwrap();
    cli.json(&["index", "notes", "--remove"]);
    cli.json(&["index", "notes", "--index", "fresh"]);
    for name in ["graph.bin", "matches.bin"] {
        let read = |version: &str| fs::read(cli.folder().join(version).join(name)).unwrap();
        assert!(read(".cairn/versions/2") == read("fresh/versions/1"), "{name}");
    }
}
