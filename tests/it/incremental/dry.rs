//! `cairn index --dry-run`: what a run would do with the documents, without doing it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::documents;
use crate::support::{Cli, assert_valid};

fn notes() -> Cli {
    let cli = Cli::new();
    for name in ["Harl Mill", "Pale Mill", "Heron Bridge", "Wren Quay"] {
        cli.write(&format!("notes/{name}.md"), format!("# {name}\n\n{name} was built by Ada Lorne in 1810."));
    }
    cli.write("notes/empty.txt", "");
    cli.write("notes/one.png", "x");
    cli.write("notes/two.png", "x");
    cli
}

/// Returns every file below a folder with its bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap);
    let files = entries.filter(|it| it.file_type().is_file());
    files.map(|it| (it.path().to_owned(), fs::read(it.path()).unwrap())).collect()
}

#[test]
fn what_would_change_is_named_and_nothing_is_written() {
    let cli = notes();
    let estimate = cli.json(&["index", "notes", "--dry-run"]);
    assert_valid("estimate", &estimate);
    let added = ["Harl Mill", "Heron Bridge", "Pale Mill", "Wren Quay"].map(|name| format!("notes/{name}.md"));
    assert_eq!(estimate["changes"], json!({ "added": added, "changed": [], "removed": [] }));
    assert!(!cli.folder().join(".cairn").exists(), "an index is made");
    let said = cli.run(["index", "notes", "--dry-run"]).succeeded().stdout;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "4 documents added, 0 changed, 0 unchanged, 0 removed, 2 skipped");
    assert_eq!(lines[1], "add      notes/Harl Mill.md");
    let skips = ["skip     2: unsupported kind of file (2 files .png)", "skip     1: it is empty (notes/empty.txt)"];
    assert_eq!(lines[5..7], skips);

    cli.json(&["index", "notes"]);
    cli.write("notes/Harl Mill.md", "# Harl Mill\n\nHarl Mill burned down.");
    cli.write("notes/Tern Quay.md", "# Tern Quay\n\nTern Quay is at Port Halven.");
    fs::remove_file(cli.folder().join("notes/Pale Mill.md")).unwrap();
    let before = files(&cli.folder().join(".cairn"));
    let estimate = cli.json(&["index", "notes", "--dry-run"]);
    assert!(files(&cli.folder().join(".cairn")) == before, "the index is not as it was");
    assert_eq!(
        estimate["changes"],
        json!({
            "added": ["notes/Tern Quay.md"],
            "changed": ["notes/Harl Mill.md"],
            "removed": ["notes/Pale Mill.md"],
        })
    );
    assert_eq!(documents(&estimate), documents(&cli.json(&["index", "notes"])));
    // Other options change every document.
    let estimate = cli.json(&["index", "notes", "--passage-tokens", "100", "--dry-run"]);
    assert_eq!(documents(&estimate), [0, 4, 0, 0]);
}

#[test]
fn many_documents_are_counted_and_a_few_named() {
    let cli = Cli::new();
    let records: Vec<String> =
        (0..30).map(|id| format!(r#"{{"id": "r{id:02}", "text": "Berth {id} is at the quay."}}"#)).collect();
    cli.write("notes/berths.jsonl", records.join("\n"));
    let said = cli.run(["index", "notes", "--dry-run"]).succeeded().stdout;
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("add ")).collect();
    assert_eq!((lines.len(), lines[0]), (11, "add      notes/berths.jsonl#r00"));
    assert!(lines[10].starts_with("add      … and 20 more"), "{said}");
    assert_eq!(cli.json(&["index", "notes", "--dry-run"])["changes"]["added"].as_array().unwrap().len(), 30);
}

#[test]
fn what_a_run_would_warn_of_or_refuse_is_said() {
    let cli = notes();
    cli.json(&["index", "notes"]);
    for name in ["Pale Mill", "Heron Bridge", "Wren Quay"] {
        fs::remove_file(cli.folder().join(format!("notes/{name}.md"))).unwrap();
    }
    let said = cli.run(["index", "notes", "--dry-run"]).succeeded();
    assert!(said.stdout.contains(" 0 removed") && said.stderr.contains("3 of the 4 documents"), "{said:#?}");
    let estimate = cli.json(&["index", "notes", "--dry-run", "--remove"]);
    assert_eq!((documents(&estimate), &estimate["warnings"]), ([0, 0, 1, 3], &json!([])));

    fs::create_dir(cli.folder().join("empty")).unwrap();
    cli.write("other/thesis.txt", "It is no index.");
    for index in ["nowhere", "other"] {
        let kind = if index == "other" { "is not an index" } else { "no document found in `empty`" };
        let source = if index == "other" { "notes" } else { "empty" };
        let refused = cli.run(["index", source, "--index", index, "--dry-run"]);
        assert_eq!(refused.status, Some(3), "{refused:#?}");
        assert!(refused.stderr.contains(kind), "{refused:#?}");
        assert_eq!(cli.run(["index", source, "--index", index]).status, Some(3));
    }
}
