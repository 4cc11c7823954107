//! A document that could not be read this time is not gone: it is kept, and the report says so.

use std::fs;

use serde_json::Value;

use crate::support::Cli;

/// A program in a folder with an index of a text file and three records.
fn indexed() -> Cli {
    let cli = Cli::new();
    cli.write("notes/mill.md", "# Mill\n\nThe mill stands by the river.");
    cli.write("notes/deep/tarn.txt", "The Tarn is a river.");
    cli.write("notes/records.jsonl", ["x", "y", "z"].map(record).join("\n"));
    assert_eq!(cli.json(&["index", "notes"])["documents"]["added"], 5);
    cli
}

fn record(id: &str) -> String {
    format!(r#"{{"id": "{id}", "text": "Record {id} tells of the river."}}"#)
}

/// Checks that a run keeps `kept` documents of `source`, and that all five are still found.
#[track_caller]
fn check_keeps(cli: &Cli, kept: u64, source: &str) {
    let report = cli.json(&["index", "notes"]);
    let (documents, warnings) = (&report["documents"], report["warnings"].as_array().unwrap());
    assert_eq!((&documents["removed"], &documents["unchanged"]), (&0.into(), &5.into()), "{report}");
    let verb = if kept == 1 { "document is" } else { "documents are" };
    let warned = |it: &&Value| it.as_str().unwrap().contains(&format!("{kept} {verb} kept from an earlier run"));
    let warning = warnings.iter().find(warned).unwrap_or_else(|| panic!("no warning: {report}"));
    for word in [format!("`{source}` could not be read completely"), "index again".to_owned()] {
        assert!(warning.as_str().unwrap().contains(&word), "{word}: {warning}");
    }
    assert_eq!(report["version"], 1, "{report}");
    let found = cli.json(&["search", "river", "--strategy", "lexical"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 5);
}

#[test]
fn a_document_that_became_unreadable_is_kept_until_it_is_removed() {
    let cli = indexed();
    let before = cli.canonical(".cairn");
    let cases: [(&str, &[u8], u64, &str); 4] = [
        ("notes/mill.md", b"# Mill\n\0\xff", 1, "notes/mill.md"),
        ("notes/mill.md", b"", 1, "notes/mill.md"),
        ("notes/records.jsonl", b"{\"id\": \"x\", \"te", 3, "notes/records.jsonl"),
        ("notes/records.jsonl", b"", 3, "notes/records.jsonl"),
    ];
    for (name, contents, kept, source) in cases {
        let whole = fs::read(cli.folder().join(name)).unwrap();
        cli.write(name, contents);
        check_keeps(&cli, kept, source);
        cli.write(name, whole);
    }
    let one_broken = [record("x"), "{".to_owned(), record("z")].join("\n");
    cli.write("notes/records.jsonl", one_broken);
    check_keeps(&cli, 1, "notes/records.jsonl");
    let said = cli.run(["index", "notes"]).succeeded();
    assert!(said.stderr.contains("warning: 1 document is kept"), "{said:#?}");
    assert_eq!(cli.canonical(".cairn"), before);

    // A file that could be read whole shows which of its records are gone.
    cli.write("notes/records.jsonl", [record("x"), record("z")].join("\n"));
    fs::remove_file(cli.folder().join("notes/mill.md")).unwrap();
    let report = cli.json(&["index", "notes"]);
    assert_eq!(
        (&report["documents"]["removed"], &report["warnings"].to_string().contains("kept")),
        (&2.into(), &false)
    );
}

#[test]
fn an_id_that_is_used_twice_keeps_nothing() {
    let cli = indexed();
    cli.write("notes/records.jsonl", [record("x"), record("x"), record("z")].join("\n"));
    let report = cli.json(&["index", "notes"]);
    assert_eq!((&report["documents"]["removed"], &report["documents"]["skipped"]), (&1.into(), &1.into()), "{report}");
}

#[cfg(unix)]
#[test]
fn what_lies_behind_a_link_or_a_closed_folder_is_kept() {
    let cli = indexed();
    fs::rename(cli.folder().join("notes/deep"), cli.folder().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", cli.folder().join("notes/deep")).unwrap();
    check_keeps(&cli, 1, "notes/deep");
}
