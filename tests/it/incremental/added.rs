//! `cairn add`: texts that users hand over, which no run over a folder undoes.

use std::fs;

use cairn::chunk::ChunkOptions;
use cairn::{Document, DocumentBatch, IndexOptions, Performers, Sources};
use serde_json::json;

use super::documents;
use crate::support::{Cli, CommandOutput, assert_valid, block_on, canonical, index_with, workspace};

fn add(cli: &Cli, args: &[&str], text: &str) -> CommandOutput {
    cli.run_with_input(&[&["add", "-"], args].concat(), text)
}

#[test]
fn a_text_that_was_added_stays_whatever_is_in_a_folder() {
    let cli = Cli::new();
    cli.write("notes/a.md", "# Harl Mill\n\nHarl Mill was built by Ada Lorne.");
    cli.write("notes/b.md", "# Heron Bridge\n\nHeron Bridge spans the Ashlin.");
    cli.json(&["index", "notes", "--passage-tokens", "100"]);
    let said = add(&cli, &["--title", "Wren Quay"], "Wren Quay is the old quay of Port Halven.").succeeded();
    assert_eq!(said.stdout, "Wren Quay\n");
    assert!(said.stderr.contains("added; version 2 has 3 documents"), "{said:#?}");
    // At the address of a file, it replaces the document of that file, which is not read from then on.
    let page = "<!DOCTYPE html><title>Mills</title><p>Harl Mill was sold to Ida Storm.</p>";
    let said = add(&cli, &["--address", "notes/a.md", "--json"], page).succeeded();
    let report = serde_json::from_str(&said.stdout).unwrap();
    assert_valid("index", &report);
    assert_eq!((documents(&report), &report["warnings"]), ([0, 1, 0, 0], &json!([])));
    let again = add(&cli, &["--address", "notes/a.md"], page).succeeded();
    assert!(again.stderr.contains("nothing changed; version 3"), "{again:#?}");

    cli.write("notes/a.md", "# Harl Mill\n\nHarl Mill burned down.");
    fs::remove_file(cli.folder().join("notes/b.md")).unwrap();
    cli.write("notes/c.md", "# Tern Quay\n\nTern Quay is new.");
    let report = cli.json(&["index", "notes", "--passage-tokens", "100", "--remove"]);
    assert_eq!((documents(&report), &report["counts"]["documents"]), ([1, 0, 0, 1], &json!(3)));
    assert_eq!(report["skips"][0]["reason"], "a document with this id was added by hand, and stays");
    let status = cli.run(["status"]).succeeded().stdout;
    assert!(
        status.contains("added by hand, and stays; to use this one, run `")
            && status.contains("remove --undo DOCUMENT`"),
        "{status}"
    );
    let found = cli.json(&["search", "Ida Storm"]);
    assert_eq!(found["hits"][0]["source_id"], "notes/a.md");
    // The options of the index are kept.
    let before = cli.json(&["status"])["version"].clone();
    assert_eq!(cli.json(&["index", "notes", "--passage-tokens", "100"])["version"], before);
}

#[test]
fn a_file_whose_text_is_added_counts_as_added_by_hand() {
    let cli = Cli::new();
    let text = "# Harl Mill\n\nHarl Mill was built by Ada Lorne.";
    cli.write("notes/a.md", text);
    cli.json(&["index", "notes"]);
    let said = add(&cli, &["--address", "notes/a.md"], text).succeeded();
    assert!(said.stderr.contains("it now counts as added by hand; version 2"), "{said:#?}");
    assert!(!said.stderr.contains("warning"), "{said:#?}");
    let again = add(&cli, &["--address", "notes/a.md"], text).succeeded();
    assert!(again.stderr.contains("nothing changed; version 2"), "{again:#?}");
}

#[test]
fn what_was_added_is_removed_and_added_again() {
    let cli = Cli::new();
    let text = "Wren Quay is the old quay of Port Halven.";
    // The first one makes the index.
    add(&cli, &["--title", "Wren Quay", "--address", "quays/wren"], text).succeeded();
    add(&cli, &["--title", "Tern Quay"], "Tern Quay is new.").succeeded();
    let whole = cli.canonical(".cairn");
    assert_eq!(cli.run(["remove", "quays/*"]).succeeded().stdout, "quays/wren\n");
    let said = cli.run(["remove", "--undo", "quays/wren"]).succeeded();
    assert!(said.stderr.contains("`cairn add`"), "{said:#?}");
    add(&cli, &["--title", "Wren Quay", "--address", "quays/wren"], text).succeeded();
    assert_eq!(cli.canonical(".cairn"), whole);
    // Adding also undoes a removal.
    cli.run(["remove", "Tern Quay"]).succeeded();
    add(&cli, &["--title", "Tern Quay"], "Tern Quay is new.").succeeded();
    assert_eq!(cli.canonical(".cairn"), whole);
    assert_eq!(cli.json(&["remove", "--list"])["documents"], json!([]));
    // Once it is removed, a file with its id can take its place after the removal is undone.
    cli.write("quays/wren", "Wren Quay was closed.");
    cli.run(["remove", "quays/wren"]).succeeded();
    cli.run(["remove", "--undo", "quays/wren"]).succeeded();
    assert_eq!(documents(&cli.json(&["index", "quays"])), [1, 0, 0, 0]);
}

#[test]
fn an_unusable_text_is_refused_and_changes_nothing() {
    let cli = Cli::new();
    let long = "a".repeat(2_000);
    for (args, text, expect) in [
        (&["--title", "Mill"][..], "", "it is empty"),
        (&["--title", "Mill"], " \n", "it is empty"),
        (&["--title", " "], "It stands.", "a title or an address"),
        (&["--address", &long], "It stands.", "bytes"),
        (&["--address", "a.jsonl"], "{\"id\":1,\"text\":\"A.\"}\n{\"id\":2,\"text\":\"B.\"}", "several documents"),
    ] {
        let said = add(&cli, args, text);
        assert_eq!((said.status, said.stdout.as_str()), (Some(3), ""), "{said:#?}");
        assert!(said.stderr.contains(expect), "{said:#?}");
        assert_eq!(said.stderr.contains("index -` indexes each of them"), expect == "several documents", "{said:#?}");
    }
    cli.refuses(&["add", "notes.md", "--title", "Mill"], "input", &["`-`", "cairn index PATH"]);
    assert_eq!(cli.run(["add", "-"]).status, Some(2));
    assert!(!cli.folder().join(".cairn").exists());
    // A name with odd characters is kept unchanged and escaped when shown.
    let odd = "notes/\u{1b}[31m\u{202e}x\ny.md";
    let said = add(&cli, &["--address", odd], "It stands.").succeeded();
    assert!(!said.stdout.contains('\u{1b}') && said.stdout.lines().count() == 1, "{said:#?}");
    assert_eq!(cli.json(&["search", "stands"])["hits"][0]["source_id"], odd);
}

#[test]
fn a_program_adds_one_or_many_with_the_options_of_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let berth = |number: usize| format!("Berth {number} lies at the old quay of Port Halven. ");
    let text = (0..40).map(berth).collect::<Vec<_>>().concat();
    let note = |id: &str| Document::new(id, Some(format!("Note {id}")), format!("{text}Note {id} ends."));
    let chunk = ChunkOptions { passage_pieces_max: 60, ..ChunkOptions::default() };
    let options = IndexOptions { chunk, ..IndexOptions::default() };
    index_with(&path, &Sources::documents([note("0")]), &options).unwrap();
    let performers = Performers::built_in();
    let add = |documents: &[Document]| {
        let options = IndexOptions::default();
        block_on(cairn::add(&mut workspace(&path), documents.to_vec(), &performers, &options)).unwrap()
    };
    assert_eq!(add(&[note("1"), note("2"), Document::new("3", None, " ")]).documents.added, 2);
    assert_eq!(add(&[note("1")]).documents.unchanged, 1);
    let whole = folder.path().join("whole");
    index_with(&whole, &Sources::documents(["0", "1", "2"].map(note)), &options).unwrap();
    assert_eq!(canonical(&path), canonical(&whole));
}

#[test]
fn a_batch_adds_replaces_and_removes_in_one_version() {
    let folder = tempfile::tempdir().unwrap();
    let [path, fresh] = ["index", "fresh"].map(|name| folder.path().join(name));
    let note = |id: &str, text: &str| Document::new(id, Some(format!("Note {id}")), text);
    let commit = |batch: &DocumentBatch| {
        let performers = Performers::built_in();
        block_on(batch.commit(&mut workspace(&path), &performers, &IndexOptions::default())).unwrap()
    };
    let mut batch = DocumentBatch::new();
    for (id, text) in [("a", "The mill stands."), ("b", "The river runs."), ("c", "The bridge holds.")] {
        batch.add(note(id, text));
    }
    // Left out, since its id is that of another source, which stays.
    batch.add(Document { source_id: "copied".to_owned(), ..note("a", "The mill is copied.") });
    let counts = commit(&batch).documents;
    assert_eq!((counts.added, counts.changed, counts.removed, counts.skipped), (3, 0, 0, 1));

    let mut batch = DocumentBatch::new();
    batch.remove("a");
    batch.remove("unknown");
    batch.add(note("b", "The river is dry."));
    // The last call about an id counts.
    batch.add(note("c", "The bridge fell."));
    batch.remove("c");
    batch.remove("d");
    batch.add(note("d", "The quay is new."));
    assert_eq!((batch.len(), batch.is_empty()), (5, false));
    let report = commit(&batch);
    let counts = report.documents;
    assert_eq!((counts.added, counts.changed, counts.removed, report.version.0), (1, 1, 2, 2));
    assert_eq!(commit(&batch).version.0, 2);

    let left = [note("b", "The river is dry."), note("d", "The quay is new.")];
    index_with(&fresh, &Sources::documents(left), &IndexOptions::default()).unwrap();
    assert_eq!(canonical(&path), canonical(&fresh));
}

#[test]
fn a_batch_of_which_nothing_can_be_added_removes_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let performers = Performers::built_in();
    let mut batch = DocumentBatch::new();
    batch.add(Document::new("a", None, "The mill stands."));
    let mut workspace = workspace(folder.path());
    let options = IndexOptions::default();
    block_on(batch.commit(&mut workspace, &performers, &options)).unwrap();
    batch.remove("a");
    batch.add(Document::new("b", None, " "));
    let report = block_on(batch.commit(&mut workspace, &performers, &options)).unwrap();
    assert_eq!((report.documents.removed, report.documents.skipped, report.counts.documents), (1, 1, 0));
}
