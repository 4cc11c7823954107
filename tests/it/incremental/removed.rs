//! `cairn remove`: documents that go, stay away, and come back on request.

use serde_json::Value;

use crate::support::{Cli, assert_valid};

fn indexed() -> Cli {
    let cli = Cli::new();
    for name in ["Harl Mill", "Pale Mill", "Heron Bridge"] {
        cli.write(&format!("notes/{name}.md"), format!("# {name}\n\n{name} was built by Ada Lorne in 1810."));
    }
    cli.write("notes/drafts/a.md", "# A draft\n\nAda Lorne may have built it.");
    cli.json(&["index", "notes", "--passage-tokens", "100"]);
    cli
}

/// Returns the ids of the documents that are indexed.
fn documents(cli: &Cli) -> Vec<String> {
    let text = cli.canonical(".cairn");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter_map(|line| Some(line["document"]["source_id"].as_str()?.to_owned())).collect()
}

#[test]
fn what_is_removed_stays_away_until_it_is_taken_back() {
    let cli = indexed();
    let whole = cli.canonical(".cairn");
    let said = cli.run(["remove", "notes/Pale Mill.md", "*drafts/*"]).succeeded();
    assert_eq!(said.stdout.lines().collect::<Vec<_>>(), ["notes/Pale Mill.md", "notes/drafts/a.md"]);
    assert!(said.stderr.contains("removed 2 documents; version 2 has 2 documents"), "{said:#?}");
    assert_eq!(documents(&cli).len(), 2);

    // Whatever becomes of the files: the reason is reported, and nothing is rebuilt.
    cli.write("notes/Pale Mill.md", "# Pale Mill\n\nPale Mill burned down.");
    let report = cli.json(&["index", "notes", "--passage-tokens", "100"]);
    assert_eq!((&report["version"], &report["documents"]["skipped"]), (&2.into(), &2.into()), "{report:#}");
    assert_eq!(report["skips"][0]["reason"], "it was removed by hand", "{report:#}");
    let said = cli.run(["index", "notes", "--passage-tokens", "100"]).succeeded().stderr;
    assert!(
        said.contains("it was removed by hand; `") && said.contains("remove --undo DOCUMENT` takes it back"),
        "{said}"
    );
    let estimate = cli.json(&["index", "notes", "--passage-tokens", "100", "--dry-run"]);
    assert_eq!(estimate["documents"]["added"], 0, "{estimate:#}");
    let listed = cli.json(&["remove", "--list"]);
    assert_valid("remove", &listed);
    assert_eq!(listed["documents"].as_array().unwrap().len(), 2);

    cli.write("notes/Pale Mill.md", "# Pale Mill\n\nPale Mill was built by Ada Lorne in 1810.");
    let back = cli.json(&["remove", "--undo", "*"]);
    assert_valid("remove", &back);
    assert_eq!(back, listed);
    cli.json(&["index", "notes", "--passage-tokens", "100"]);
    assert_eq!(cli.canonical(".cairn"), whole);
}

#[test]
fn handing_over_a_document_undoes_its_removal() {
    let cli = indexed();
    let report = cli.json(&["remove", "notes/Harl Mill.md"]);
    assert_valid("index", &report);
    assert_eq!(report["documents"]["removed"], 1);
    cli.run_with_input(&["index", "-", "--stdin-name", "notes/Harl Mill.md"], "# Harl Mill\n\nHarl Mill stands.")
        .succeeded();
    assert!(documents(&cli).contains(&"notes/Harl Mill.md".to_owned()));
    assert_eq!(cli.json(&["remove", "--list"])["documents"].as_array().unwrap().len(), 0);
}

#[test]
fn what_means_no_document_removes_nothing() {
    let cli = indexed();
    let whole = cli.canonical(".cairn");
    let said = cli.run(["remove", "notes/Heron Bridge.md", "Harl Mill"]);
    assert_eq!(said.status, Some(3), "{said:#?}");
    assert!(said.stderr.contains("`notes/Harl Mill.md`"), "{said:#?}");
    assert_eq!((cli.canonical(".cairn"), cli.run(["remove"]).status), (whole, Some(2)));
    assert_eq!(cli.run(["remove", "--index", "nowhere", "a"]).status, Some(4));
}

#[test]
fn a_record_that_is_known_by_its_line_is_not_removed_since_another_may_stand_there_next() {
    let cli = Cli::new();
    let records = ["{\"text\":\"Harl Mill burned down.\"}", "{\"text\":\"Pale Weir stands.\"}"];
    cli.write("notes/a.jsonl", records.join("\n"));
    cli.write("notes/b.md", "# Heron Bridge\n\nHeron Bridge spans the Ashlin.");
    cli.json(&["index", "notes"]);
    let before = documents(&cli);
    for document in ["notes/a.jsonl:2", "notes/*"] {
        let refused = cli.run(["remove", document]);
        assert!(refused.status == Some(3) && refused.stderr.contains("a record without an id"), "{refused:#?}");
    }
    assert_eq!(documents(&cli), before);
    // A text with that name that a user handed over keeps its id.
    cli.run_with_input(&["add", "-", "--address", "notes/c.json:7"], "Tern Quay is new.").succeeded();
    cli.run(["remove", "notes/c.json:7", "notes/b.md"]).succeeded();
    assert_eq!(documents(&cli), ["notes/a.jsonl:1", "notes/a.jsonl:2"]);
}
