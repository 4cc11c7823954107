//! An index of an older format is read as it is, and brought to the format of today by the first run that writes it.
//!
//! `tests/data/index-3` was made by the last program of format 3 from the notes beside it, which lay in `/notes`; one
//! passage was given questions of a model, another a failure, by hand.

use std::fs;
use std::path::{Path, PathBuf};

use cairn::Workspace;

use crate::support::{Cli, assert_valid};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/index-3")
}

/// Copies a folder and all that is in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Returns the program in a folder with the old index and its notes.
fn old() -> (Cli, String) {
    let cli = Cli::new();
    copy(&fixture().join("index"), &cli.folder().join(".cairn"));
    copy(&fixture().join("notes"), &cli.folder().join("notes"));
    (cli, fs::read_to_string(fixture().join("canonical.jsonl")).unwrap())
}

fn collection(cli: &Cli) -> String {
    let workspace = Workspace::open(cli.folder().join(".cairn")).unwrap();
    workspace.records().unwrap().manifest().unwrap().collection.to_string()
}

#[test]
fn an_index_of_format_3_is_read_as_it_is() {
    let (cli, canonical) = old();
    let before = fs::read(cli.folder().join(".cairn/cairn.db")).unwrap();
    assert_eq!(cli.canonical(".cairn"), canonical);
    assert_eq!(cli.json(&["search", "who built the mill"])["hits"][0]["source_id"], "notes/mill.md");
    let status = cli.json(&["status"]);
    assert_valid("status", &status);
    assert_eq!((&status["format"], &status["version"]), (&3.into(), &2.into()));
    assert_eq!(fs::read(cli.folder().join(".cairn/cairn.db")).unwrap(), before);
}

#[test]
fn a_writer_brings_an_index_of_format_3_to_the_format_of_today_and_loses_nothing() {
    let (cli, canonical) = old();
    let (status, read_as) = (cli.json(&["status"]), collection(&cli));
    drop(Workspace::open(cli.folder().join(".cairn")).unwrap().writer().unwrap());
    assert_eq!(cli.canonical(".cairn"), canonical);
    let now = cli.json(&["status"]);
    assert_eq!(now["format"], 4);
    for part in ["documents", "passages", "questions", "units", "written", "spent", "failed", "embedder"] {
        assert_eq!(now[part], status[part], "{part}");
    }
    assert_eq!(collection(&cli), read_as, "a reader knows the id that a writer keeps");
    let report = cli.json(&["index", "notes"]);
    assert_eq!(report["documents"]["unchanged"], 3, "{report}");
    assert_eq!(cli.canonical(".cairn"), canonical);
    cli.write("notes/new.txt", "Ada Wren sold the mill at Arden in 1810.");
    assert_eq!(cli.json(&["index", "notes"])["documents"]["added"], 1);
    assert_eq!(collection(&cli), read_as, "edits keep it");
}

#[test]
fn an_index_keeps_the_id_of_its_collection_and_shares_it_with_no_other() {
    let cli = Cli::new();
    cli.write("notes/a.txt", "Ada Wren built the mill.");
    let id = |index: &str| {
        let workspace = Workspace::open(cli.folder().join(index)).unwrap();
        workspace.records().unwrap().manifest().unwrap().collection
    };
    cli.json(&["index", "notes", "--index", "one"]);
    cli.json(&["index", "notes", "--index", "two"]);
    let (one, two) = (id("one"), id("two"));
    assert_ne!(one, two);
    assert_eq!(cli.canonical("one"), cli.canonical("two"), "it is no part of what an index says");
    cli.json(&["index", "notes", "--index", "one", "--re-embed", "--embedder", "none"]);
    assert_eq!(id("one"), one);
}
