//! Versions made before a first run ends: finished documents can be searched, and the result is that of a run without
//! them.

use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cairn::chunk::ChunkOptions;
use cairn::{Cancellation, Checkpoints, Document, Error, IndexOptions, Performers, Progress, Sources, Workspace};
use serde_json::{Value, json};

use super::documents;
use crate::support::{Cli, assert_valid, block_on, engine, index, index_with};

/// Documents: a batch, after which a version is made, and a few more.
const DOCUMENTS: usize = 2_058;
const BATCH: usize = 2_048;

/// Returns the documents: each names quays that the next one names, too. There are so many that topics are kept while
/// little changes.
fn quays() -> Vec<Document> {
    let name = |number: usize| {
        let letter = |at: u32| char::from(b'a' + (number / 26_usize.pow(at) % 26) as u8);
        format!("Q{}{}{} Quay", letter(0), letter(1), letter(2))
    };
    let document = |number: usize| {
        let near: Vec<String> = (0..16).map(|step| format!("It is near {}.", name(number * 8 + step))).collect();
        Document::new(format!("{number:05}"), Some(format!("Berth {number}")), near.join(" "))
    };
    (0..DOCUMENTS).map(document).collect()
}

/// Writes this many of the documents as records.
fn write(cli: &Cli, count: usize) {
    let record = |it: &Document| format!("{}\n", json!({ "id": it.source_id, "title": it.title, "text": it.text }));
    cli.write("notes/quays.jsonl", quays().iter().take(count).map(record).collect::<String>());
}

/// Returns the results of every usual strategy for a few questions, without what distinguishes versions.
fn found(cli: &Cli, index: &str) -> Vec<Value> {
    let search = |(question, strategy): (&str, &str)| {
        let mut said = cli.json(&["search", question, "--index", index, "--strategy", strategy]);
        said["hits"].take()
    };
    let questions = ["What is near Qaba Quay?", "Berth 2050"];
    questions.iter().flat_map(|it| ["lexical", "hop", "trail"].map(|by| (*it, by))).map(search).collect()
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_run_with_early_versions_ends_as_one_without() {
    let cli = Cli::new();
    write(&cli, DOCUMENTS);
    let count = DOCUMENTS as u64;
    let report = cli.json(&["index", "notes", "--index", "often", "--checkpoint", "0s"]);
    assert_valid("index", &report);
    assert_eq!((&report["checkpoints"], &report["version"]), (&json!(1), &json!(2)), "{report:#}");
    assert_eq!(documents(&report), [count, 0, 0, 0]);
    let never = cli.json(&["index", "notes", "--index", "never", "--checkpoint", "never"]);
    assert_eq!((&never["checkpoints"], &never["version"]), (&json!(0), &json!(1)));
    assert_eq!(report["counts"], never["counts"]);
    assert!(cli.canonical("often") == cli.canonical("never"), "the versions differ");
    assert_eq!(found(&cli, "often"), found(&cli, "never"));
    let status = cli.json(&["status", "--index", "often"]);
    assert_eq!((&status["is_partial"], &status["units"]["pending"]), (&json!(false), &json!(0)));
    // An index with a version is not in its first run any more: its topics are kept.
    write(&cli, BATCH);
    cli.json(&["index", "notes", "--index", "twice"]);
    write(&cli, DOCUMENTS);
    let report = cli.json(&["index", "notes", "--index", "twice", "--checkpoint", "0s"]);
    assert_eq!((&report["checkpoints"], &report["counts"]["hierarchy"]["versions"]), (&json!(0), &json!(1)));
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_run_killed_after_an_early_version_keeps_it_and_is_continued() {
    let cli = Cli::new();
    write(&cli, DOCUMENTS);
    let mut run = cli.command(["index", "notes", "--checkpoint", "0s"]).stderr(Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    while Workspace::open(cli.folder().join(".cairn")).and_then(|it| it.snapshot()).is_err() {
        assert!(began.elapsed() < Duration::from_mins(5), "no version comes");
        thread::sleep(Duration::from_millis(5));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let status = cli.json(&["status"]);
    assert_valid("status", &status);
    assert_eq!((&status["is_partial"], &status["counts"]["documents"]), (&json!(true), &json!(BATCH)));
    let said = cli.run(["status"]).succeeded().stdout;
    assert!(said.contains("a first run that is not finished") && said.contains("index PATH` continues"), "{said}");
    assert!(!cli.json(&["search", "Qaba Quay"])["hits"].as_array().unwrap().is_empty());
    cli.run(["check"]).succeeded();
    let report = cli.json(&["index", "notes"]);
    let [added, changed, unchanged, removed] = documents(&report);
    assert_eq!((added + unchanged, changed, removed), (DOCUMENTS as u64, 0, 0));
    assert_eq!(cli.json(&["status"])["is_partial"], false);
    cli.json(&["index", "notes", "--index", "clean"]);
    assert!(cli.canonical(".cairn") == cli.canonical("clean"), "the index is not that of a run that nobody killed");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn documents_not_read_yet_are_not_gone_and_can_come_in_an_otherwise_empty_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let all = quays();
    let is_version_made = Arc::new(AtomicBool::new(false));
    let (seen, cancellation) = (Arc::clone(&is_version_made), Cancellation::default());
    let stop = cancellation.clone();
    let progress = move |progress: Progress| {
        if progress.stage == "writing" {
            seen.store(true, Ordering::Relaxed);
        } else if progress.stage == "reading" && seen.load(Ordering::Relaxed) {
            stop.cancel();
        }
    };
    let checkpoints = Checkpoints::Every(Duration::ZERO);
    let options =
        IndexOptions { checkpoints, cancellation, progress: Some(Arc::new(progress)), ..IndexOptions::default() };
    let ended = index_with(&path, &Sources::documents(all.clone()), &options);
    assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
    assert!(is_version_made.load(Ordering::Relaxed));
    let held = engine(&path).counts().documents;
    assert_eq!(held, BATCH as u64);
    assert!(Workspace::open(&path).unwrap().status().unwrap().is_partial);
    // A run that reads none of the sources does not finish the first run.
    let performers = Performers::built_in();
    let mut workspace = Workspace::open(&path).unwrap();
    let added = Document::new("by hand", None, "Wren Quay is old.");
    block_on(cairn::add(&mut workspace, [added], &performers, &IndexOptions::default())).unwrap();
    let is_partial = || Workspace::open(&path).unwrap().status().unwrap().is_partial;
    assert!(is_partial());
    block_on(cairn::remove(&mut workspace, &["by hand"], &performers, &IndexOptions::default())).unwrap();
    assert!(is_partial());
    // A run without anything new completes the version.
    let first = index(&path, &Sources::documents(all[..1].to_vec()));
    assert!(first.is_new_version && first.documents.unchanged == 1, "{first:?}");
    assert!(!Workspace::open(&path).unwrap().status().unwrap().is_partial);
    let report = index(&path, &Sources::documents(all));
    assert_eq!((report.documents.removed, report.counts.documents), (0, DOCUMENTS as u64));
}

/// A first run that ends before its first version has settings already, and is not all that was to be read.
#[test]
fn a_text_added_to_an_unfinished_first_run_has_its_settings_and_does_not_end_it() {
    let cli = Cli::new();
    let collection = cli.folder().join("notes");
    write(&cli, DOCUMENTS);
    let path = cli.folder().join(".cairn");
    let cancellation = Cancellation::default();
    let stop = cancellation.clone();
    let progress = move |progress: Progress| {
        if progress.stage == "reading" && progress.done > 0 {
            stop.cancel();
        }
    };
    let chunk = ChunkOptions { passage_pieces_max: 50, ..ChunkOptions::default() };
    let options = IndexOptions { chunk, cancellation, progress: Some(Arc::new(progress)), ..IndexOptions::default() };
    let ended = index_with(&path, &Sources::folder(&collection), &options);
    assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
    let mut workspace = Workspace::open(&path).unwrap();
    assert!(workspace.snapshot().is_err(), "there is a version already");
    let added = Document::new("by hand", None, "Wren Quay is old. ".repeat(40));
    let report =
        block_on(cairn::add(&mut workspace, [added], &Performers::built_in(), &IndexOptions::default())).unwrap();
    // 160 words, of about 50 word pieces a passage.
    assert!(report.counts.documents > 1 && report.counts.passages > report.counts.documents + 1, "{report:?}");
    assert!(workspace.status().unwrap().is_partial);
}
