//! What the program prints with `--json` is what its schemas promise.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Cli, assert_valid};

const QUESTION: &str = "In what year was the lamp of the lighthouse at Marrow Point first lit?";

#[track_caller]
fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn every_command_prints_what_its_schema_promises() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let collection = examples.join("harbor").display().to_string();
    let questions = examples.join("harbor-questions.jsonl").display().to_string();
    let cli = Cli::new();

    let calls: [(&str, &[&str]); 6] = [
        ("index", &["index", &collection, "--json"]),
        ("index", &["index", &collection, "--json"]),
        ("status", &["status", "--json"]),
        ("search", &["search", QUESTION, "--json"]),
        ("answer", &["ask", QUESTION, "--json"]),
        ("eval-retrieval", &["eval", "retrieval", "--questions", &questions, "--output", "run.jsonl", "--json"]),
    ];
    for (schema, args) in calls {
        let said = cli.run(args).succeeded();
        assert_valid(schema, &serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:#?}")));
    }
    for strategy in ["lexical", "dense", "hybrid", "hop", "trail", "auto"] {
        let said = cli.run(["ask", QUESTION, "--strategy", strategy, "--json"]).succeeded();
        assert_valid("answer", &serde_json::from_str(&said.stdout).unwrap());
    }

    let run = lines(&fs::read_to_string(cli.folder().join("run.jsonl")).unwrap());
    assert_eq!(run.len(), 30);
    for line in &run {
        assert_valid("run-line", line);
    }

    let export = lines(&cli.run(["export", "--index", ".cairn", "--canonical"]).succeeded().stdout);
    for kind in ["document", "passage", "question", "mention", "edge"] {
        assert!(export.iter().any(|line| line.get(kind).is_some()), "no {kind} in the export");
    }
    for line in &export {
        assert_valid("export", line);
    }
}

#[test]
fn a_failure_prints_what_its_schema_promises() {
    let cli = Cli::new();
    let calls: [(&str, &[&str]); 3] = [
        ("no_index", &["status", "--json"]),
        ("input", &["index", "no-such-folder", "--json"]),
        ("input", &["search", "Who?", "--strategy", "guess", "--json"]),
    ];
    for (kind, args) in calls {
        let said = cli.run(args);
        assert_ne!(said.status, Some(0), "{said:#?}");
        assert_eq!(said.stdout, "", "{args:?}");
        let error: Value = serde_json::from_str(&said.stderr).unwrap_or_else(|error| panic!("{error}: {said:#?}"));
        assert_valid("error", &error);
        assert_eq!(error["error"]["kind"], kind, "{args:?}");
    }
}
