//! Repeated runs: the index is that of its sources, whatever was indexed before, and only changes are processed.

mod added;
mod checkpoints;
mod dry;
pub(crate) mod edits;
mod options;
mod removed;
mod watching;

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use cairn::domain::Metadata;
use cairn::{Cancellation, Document, Error, Filter, IndexOptions, Performers, SearchOptions, Sources, StrategyKind};
use serde_json::{Value, json};

use crate::support::{
    Cli, Random, block_on, canonical, engine, harbor, harbor_files, harbor_notes, index, index_with, workspace,
};

/// Returns added, changed, unchanged and removed documents of a report.
fn documents(report: &Value) -> [u64; 4] {
    ["added", "changed", "unchanged", "removed"].map(|it| report["documents"][it].as_u64().unwrap())
}

#[test]
fn what_did_not_change_is_left_alone() {
    let cli = Cli::new();
    let collection = harbor().display().to_string();
    let first = cli.json(&["index", &collection]);
    let files = |cli: &Cli| {
        let versions = fs::read_dir(cli.folder().join(".cairn/versions")).unwrap();
        let mut names: Vec<_> = versions.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        (names, fs::read(cli.folder().join(".cairn/cairn.db")).unwrap())
    };
    let before = files(&cli);
    let second = cli.json(&["index", &collection]);
    assert_eq!(documents(&first), [42, 0, 0, 0]);
    assert_eq!(documents(&second), [0, 0, 42, 0]);
    assert_eq!((&second["version"], &second["counts"]), (&first["version"], &first["counts"]));
    assert!(files(&cli) == before, "a run that changes nothing writes nothing");
    let said = cli.run(["index", &collection]).succeeded();
    assert!(said.stderr.contains("nothing changed: 42 documents, version 1"), "{said:#?}");
}

#[test]
fn only_what_changed_is_worked_on() {
    let cli = Cli::new();
    for (name, text) in harbor_notes().iter().take(6) {
        cli.write(&format!("notes/{name}"), text);
    }
    let run = |expect: [u64; 4], version: u64| {
        let report = cli.json(&["index", "notes"]);
        assert_eq!(documents(&report), expect, "{report}");
        assert_eq!(report["version"], version);
        let status = cli.json(&["status"]);
        let done = expect[0] + expect[1] + expect[2];
        assert_eq!(status["units"], json!({ "done": done, "pending": 0, "failed": 0 }));
    };
    run([6, 0, 0, 0], 1);
    cli.write("notes/edda-varnholt.md", "# Edda Varnholt\n\nEdda Varnholt built boats.");
    run([0, 1, 5, 0], 2);
    cli.write("notes/new.txt", "A new note on Edda Varnholt.");
    run([1, 0, 6, 0], 3);
    fs::remove_file(cli.folder().join("notes/agnes-tollamy.md")).unwrap();
    run([0, 0, 6, 1], 4);
    fs::rename(cli.folder().join("notes/new.txt"), cli.folder().join("notes/renamed.txt")).unwrap();
    run([1, 0, 5, 1], 5);
    // The whole folder, under another name and place: its documents have other ids.
    fs::rename(cli.folder().join("notes"), cli.folder().join("papers")).unwrap();
    let report = cli.json(&["index", "papers"]);
    assert_eq!(documents(&report), [6, 0, 0, 0]);
    assert_eq!(report["counts"]["documents"], 12);
}

#[test]
fn two_roots_of_one_index_do_not_remove_each_other() {
    let cli = Cli::new();
    cli.write("a/x.txt", "The mill stands.");
    cli.write("a/y.txt", "The river runs.");
    cli.write("b/z.jsonl", r#"{"id": 1, "text": "The bridge holds."}"#);
    assert_eq!(documents(&cli.json(&["index", "a"])), [2, 0, 0, 0]);
    assert_eq!(documents(&cli.json(&["index", "b"])), [1, 0, 0, 0]);
    fs::remove_file(cli.folder().join("a/x.txt")).unwrap();
    let report = cli.json(&["index", "b"]);
    assert_eq!((documents(&report), &report["counts"]["documents"]), ([0, 0, 1, 0], &json!(3)));
    assert_eq!(documents(&cli.json(&["index", "a"])), [0, 0, 1, 1]);
    // Together, in any order, with paths written in any form.
    assert_eq!(documents(&cli.json(&["index", "b/../b", "./a"])), [0, 0, 2, 0]);
    assert_eq!(documents(&cli.json(&["index", "a/y.txt"])), [1, 0, 0, 0], "a file is its own root, by its own name");
}

#[test]
fn an_index_does_not_depend_on_threads_or_order() {
    let cli = Cli::new();
    let mut random = Random::new(1);
    for (name, text) in harbor_files() {
        let mut lines: Vec<&str> = text.lines().collect();
        if name == "records.jsonl" {
            random.shuffle(&mut lines);
        }
        cli.write(&format!("harbor/{name}"), &text);
        cli.write(&format!("shuffled/harbor/{name}"), lines.join("\n") + "\n");
    }
    let index = |threads: &str, source: &str, place: &str| {
        let mut command = cli.command(["index", source, "--index", place]);
        let status = command.env("RAYON_NUM_THREADS", threads).output().unwrap().status;
        assert!(status.success());
        cli.canonical(place)
    };
    let first = index("1", "harbor", "one");
    assert!(first.lines().count() > 500);
    assert_eq!(index("2", "harbor", "two"), first);
    assert_eq!(index("7", "shuffled/harbor", "three"), first);
}

#[test]
fn documents_of_a_program_are_added_replaced_and_removed_by_id() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let document = |id: &str, text: &str| Document::new(id, Some(format!("Note {id}")), text);
    let (mill, river) = (document("1", "The mill stands."), document("2", "The river runs."));
    let report = index(&path, &Sources::documents([mill.clone(), river.clone()]));
    assert_eq!((report.documents.added, report.version.0), (2, 1));
    let report = index(&path, &Sources::documents([mill.clone()]));
    assert_eq!((report.documents.unchanged, report.documents.removed, report.version.0), (1, 0, 1));
    let mut mill = document("1", "The mill has burned.");
    mill.metadata = Metadata::from([("year".to_owned(), "1890".to_owned())]);
    let report = index(&path, &Sources::documents([mill, document("3", " ")]));
    assert_eq!((report.documents.changed, report.documents.skipped, report.counts.documents), (1, 1, 2));
    assert_eq!(report.skips[0].source, "3");
    let found = block_on(engine(&path).search("mill burned", &SearchOptions::default())).unwrap();
    assert_eq!(found.hits[0].text, "The mill has burned.");

    // Files beside them are another root.
    std::fs::write(folder.path().join("a.txt"), "The bridge holds.").unwrap();
    let report = index(&path, &Sources::folder(folder.path().join("a.txt")));
    assert_eq!((report.documents.added, report.counts.documents), (1, 3));

    let remove = |ids: &[&str]| {
        let performers = Performers::built_in();
        block_on(cairn::remove(&mut workspace(&path), ids, &performers, &IndexOptions::default())).unwrap()
    };
    let report = remove(&["1", "unknown", "1"]);
    assert_eq!((report.documents.removed, report.documents.unchanged, report.counts.documents), (1, 2, 2));
    let version = report.version;
    assert_eq!(remove(&["1"]).version, version);
    let found = block_on(engine(&path).search("mill burned", &SearchOptions::default())).unwrap();
    assert!(found.hits.iter().all(|hit| hit.source_id != "1"));
    // All of them: an index without documents is an index.
    assert_eq!(remove(&["2", "a.txt"]).counts.documents, 0);
    for strategy in StrategyKind::ALL {
        let options = SearchOptions { strategy, ..SearchOptions::default() };
        assert_eq!(block_on(engine(&path).search("mill", &options)).unwrap().hits, []);
    }
    assert_eq!(canonical(&path), [""; 0]);
}

#[test]
fn a_filter_holds_for_what_is_shown_and_for_what_is_walked_through() {
    let folder = tempfile::tempdir().unwrap();
    index(folder.path(), &Sources::folder(harbor()));
    // The metadata value of each passage.
    let lines: Vec<Value> = canonical(folder.path()).iter().map(|it| serde_json::from_str(it).unwrap()).collect();
    let values = |kind: &str, id: &str, value: &dyn Fn(&Value) -> Value| -> BTreeMap<String, Value> {
        let of_kind = lines.iter().filter_map(|line| line.get(kind));
        of_kind.map(|it| (it[id].as_str().unwrap().to_owned(), value(it))).collect()
    };
    let documents = values("document", "id", &|it| it["metadata"]["kind"].clone());
    let passages = values("passage", "id", &|it| documents[it["document"].as_str().unwrap()].clone());
    let engine = engine(folder.path());
    for strategy in StrategyKind::ALL {
        let filters = vec![Filter::parse("kind=person").unwrap()];
        let options = SearchOptions { strategy, filters, top_k: 3, ..SearchOptions::default() };
        for question in ["Who surveyed the coasts of Sarrow on the Linnet?", "Who was the ship's boy of Barnaby Ilse?"]
        {
            let found = block_on(engine.search(question, &options)).unwrap();
            assert!(!found.hits.is_empty(), "{strategy}");
            assert!(found.hits.iter().all(|hit| hit.metadata["kind"] == "person"), "{strategy}");
            check_passages(&serde_json::to_value(&found).unwrap(), &passages, &strategy.to_string());
        }
        let filters = vec![Filter::parse("kind=nothing has it").unwrap()];
        let options = SearchOptions { strategy, filters, ..SearchOptions::default() };
        assert_eq!(block_on(engine.search("Who was Barnaby Ilse?", &options)).unwrap().hits, []);
    }
}

/// Checks that every passage named anywhere in `value` is about a person.
fn check_passages(value: &Value, passages: &BTreeMap<String, Value>, strategy: &str) {
    match value {
        Value::String(text) => {
            if let Some(kind) = passages.get(text) {
                assert_eq!(kind, "person", "{strategy} names {text}");
            }
        }
        Value::Array(items) => items.iter().for_each(|it| check_passages(it, passages, strategy)),
        Value::Object(fields) => fields.values().for_each(|it| check_passages(it, passages, strategy)),
        _ => {}
    }
}

#[test]
fn a_run_that_was_told_to_stop_keeps_what_it_finished_and_the_next_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let [path, clean] = ["index", "clean"].map(|name| folder.path().join(name));
    let sources = Sources::folder(harbor());
    let stop_at = |stage: &'static str, done: u64| {
        let cancellation = Cancellation::default();
        let stop = cancellation.clone();
        let sink = move |progress: cairn::Progress| {
            if progress.stage == stage && progress.done == done {
                stop.cancel();
            }
        };
        let options = IndexOptions { progress: Some(Arc::new(sink)), cancellation, ..IndexOptions::default() };
        let stopped = index_with(&path, &sources, &options);
        assert!(matches!(stopped, Err(Error::Cancelled)), "{stage} {done}: {stopped:?}");
        let status = workspace(&path).status().unwrap();
        assert_eq!((status.version, status.is_changed), (None, true), "{stage}");
        assert_eq!(std::fs::read_dir(path.join("versions")).unwrap().count(), 0, "{stage}");
        status.units_pending
    };
    assert_eq!(stop_at("reading", 5), 5);
    assert_eq!(stop_at("reading", 20), 20);
    assert_eq!(stop_at("collecting", 0), 42);
    assert_eq!(stop_at("matching questions", 7), 42);
    assert_eq!(stop_at("finding topics", 8), 42);
    assert_eq!(stop_at("writing", 9), 42);
    let report = index(&path, &sources);
    assert_eq!((report.documents.added, report.documents.unchanged, report.version.0), (0, 42, 1));
    index(&clean, &sources);
    assert_eq!(canonical(&path), canonical(&clean));
}

/// Of more documents than are made into units together, the first ones are committed while the next are read.
#[test]
fn a_run_that_was_told_to_stop_keeps_all_that_it_read_of_many_documents() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let all = (0..2_100).map(|number| cairn::Document::new(format!("{number:04}"), None, format!("Mill {number}.")));
    let sources = Sources::documents(all);
    let cancellation = Cancellation::default();
    let stop = cancellation.clone();
    let sink = move |progress: cairn::Progress| {
        if (progress.stage, progress.done) == ("reading", 2_060) {
            stop.cancel();
        }
    };
    let options = IndexOptions { progress: Some(Arc::new(sink)), cancellation, ..IndexOptions::default() };
    assert!(matches!(index_with(&path, &sources, &options), Err(Error::Cancelled)));
    assert_eq!(workspace(&path).status().unwrap().units_pending, 2_060);
    let report = index(&path, &sources);
    assert_eq!((report.documents.added, report.documents.unchanged), (40, 2_060));
    assert_eq!(report.counts.documents, 2_100);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn documents_that_come_slowly_are_committed_while_others_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let (read, committed) = (path.clone(), Arc::new(std::sync::atomic::AtomicU64::new(0)));
    let seen = Arc::clone(&committed);
    let sink = move |progress: cairn::Progress| match (progress.stage, progress.done) {
        ("reading", 2) => std::thread::sleep(std::time::Duration::from_millis(5_500)),
        ("reading", 3) => {
            seen.store(workspace(&read).status().unwrap().units_pending, std::sync::atomic::Ordering::Relaxed);
        }
        _ => {}
    };
    let options = IndexOptions { progress: Some(Arc::new(sink)), ..IndexOptions::default() };
    let all = (0..3).map(|number| cairn::Document::new(format!("{number}"), None, format!("Mill {number}.")));
    index_with(&path, &Sources::documents(all), &options).unwrap();
    assert_eq!(committed.load(std::sync::atomic::Ordering::Relaxed), 2);
}

/// Two folders with the same name in different places have documents with the same ids: the later run takes them over
/// and says so.
#[test]
fn documents_that_another_folder_of_that_name_takes_over_are_counted() {
    let cli = Cli::new();
    cli.write("x/notes/a.txt", "The mill stands.");
    cli.write("y/notes/a.txt", "The river runs.");
    cli.json(&["index", "x/notes"]);
    let report = cli.json(&["index", "y/notes"]);
    assert_eq!(documents(&report), [0, 1, 0, 0]);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("1 document has the id of one from `") && warnings.contains("x/notes`"), "{warnings}");
    cli.write("y/notes/more.jsonl", r#"{"id": 1, "text": "The bridge holds."}"#);
    cli.json(&["index", "y/notes/more.jsonl"]);
    // A root read only in part, or one that is gone, has nothing that could be lost.
    fs::remove_dir_all(cli.folder().join("x")).unwrap();
    for source in ["y/notes", "y/notes/more.jsonl", "y/notes"] {
        let report = cli.json(&["index", source]);
        assert!(!report["warnings"].to_string().contains("took its place"), "{report}");
    }
}
