//! An index of an older format is read as it is, and upgraded to the current format by the first run that writes to it.
//!
//! `tests/data/index-3` to `index-6` were made by the last programs of formats 3 to 6 from the notes beside them, then
//! in `/notes`. In the first, one passage was given a model's questions by hand, and another one a failure; in the
//! last, a scripted model found entities and wrote a report.

use std::fs;
use std::path::{Path, PathBuf};

use cairn::Workspace;
use cairn::workspace::INDEX_FORMAT;

use crate::support::flips::copy;
use crate::support::{Cli, assert_valid};

const OLDER: [u32; 4] = [3, 4, 5, 6];
/// The first format in which documents record where their lines begin.
const WITH_LINES: u32 = 5;

fn fixture(format: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/index-{format}"))
}

/// Returns the program in a folder with an old index and its notes.
fn old(format: u32) -> (Cli, String) {
    let cli = Cli::new();
    copy(&fixture(format).join("index"), &cli.folder().join(".cairn"));
    copy(&fixture(format).join("notes"), &cli.folder().join("notes"));
    (cli, fs::read_to_string(fixture(format).join("canonical.jsonl")).unwrap())
}

fn collection(cli: &Cli) -> String {
    let workspace = Workspace::open(cli.folder().join(".cairn")).unwrap();
    workspace.records().unwrap().manifest().unwrap().collection.to_string()
}

#[test]
fn an_index_of_an_older_format_is_read_as_it_is() {
    for format in OLDER {
        let (cli, canonical) = old(format);
        let before = fs::read(cli.folder().join(".cairn/cairn.db")).unwrap();
        assert_eq!(of_earlier_kinds(&cli.canonical(".cairn")), canonical);
        assert_eq!(cli.json(&["search", "who built the mill"])["hits"][0]["source_id"], "notes/mill.md");
        let status = cli.json(&["status"]);
        assert_valid("status", &status);
        assert_eq!(status["format"], format);
        assert_eq!(fs::read(cli.folder().join(".cairn/cairn.db")).unwrap(), before);
    }
}

#[test]
fn a_writer_upgrades_an_index_of_an_older_format_without_loss() {
    for format in OLDER {
        let (cli, canonical) = old(format);
        let (status, read_as) = (cli.json(&["status"]), collection(&cli));
        drop(Workspace::open(cli.folder().join(".cairn")).unwrap().writer().unwrap());
        assert_eq!(of_earlier_kinds(&cli.canonical(".cairn")), canonical);
        let now = cli.json(&["status"]);
        assert_eq!(now["format"], INDEX_FORMAT);
        for part in ["documents", "passages", "questions", "entities", "reports", "units", "spent", "embedder"] {
            assert_eq!(now[part], status[part], "{part}");
        }
        assert_eq!(collection(&cli), read_as, "a reader knows the id that a writer keeps");
        assert!(cli.json(&["check"])["damaged"].as_array().is_none_or(Vec::is_empty));
        // Text files now have lines, which some old indexes lack; nothing else changes.
        let report = cli.json(&["index", "notes"]);
        let documents = &report["documents"];
        // Texts are now divided by other rules, which give the same result for these.
        assert_eq!((&documents["unchanged"], &documents["changed"]), (&0.into(), &3.into()), "{report}");
        // No earlier program gives the column in which a passage begins.
        let now = without("column", &of_earlier_kinds(&cli.canonical(".cairn")));
        assert_eq!(if format < WITH_LINES { without("line", &now) } else { now }, canonical);
        // Terms of an earlier release may differ, so none are kept.
        let version = cli.json(&["status"])["version"].to_string();
        let folder = cli.folder().join(".cairn/versions").join(version);
        assert!(folder.is_dir() && !folder.join("segments.bin").exists());
        // Older indexes do not know what names stand for; it is computed.
        let listed = cli.run(["entities", "list", "--json"]).succeeded();
        assert_valid("entities", &serde_json::from_str(&listed.stdout).unwrap());
        assert!(listed.stdout.contains("Ada Wren"), "{listed:#?}");
        assert_eq!(cli.json(&["search", "who built the mill"])["hits"][0]["line"], 1);
        cli.write("notes/new.txt", "Ada Wren sold the mill at Arden in 1810.");
        assert_eq!(cli.json(&["index", "notes"])["documents"]["added"], 1);
        assert_eq!(collection(&cli), read_as, "edits keep it");
    }
}

/// Returns an export without the parts that earlier programs did not have.
fn of_earlier_kinds(canonical: &str) -> String {
    let kinds = ["document", "passage", "question", "mention", "edge", "entity", "relation_description", "report"];
    let kinds = kinds.map(|kind| format!("{{\"{kind}\":"));
    let lines = canonical.lines().filter(|line| kinds.iter().any(|kind| line.starts_with(kind)));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Returns an export without the line, or the column, in which a passage begins.
fn without(place: &str, canonical: &str) -> String {
    let shorten = |line: &str| match line.split_once(&format!(",\"{place}\":")) {
        Some((before, after)) => format!("{before}{}\n", after.trim_start_matches(|it: char| it.is_ascii_digit())),
        None => format!("{line}\n"),
    };
    canonical.lines().map(shorten).collect()
}

#[test]
fn an_index_of_an_embedder_that_nobody_knows_is_refused() {
    let (cli, _) = old(3);
    let records = rusqlite::Connection::open(cli.folder().join(".cairn/cairn.db")).unwrap();
    records.execute("UPDATE manifest SET embedder = 'from-afar'", []).unwrap();
    drop(records);
    let words = ["made with the embedder `from-afar`", "use the embedder of the index"];
    cli.refuses(&["search", "mill"], "incompatible", &words);
    cli.refuses(&["index", "notes"], "incompatible", &["from-afar"]);
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
