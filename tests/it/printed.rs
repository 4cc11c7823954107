//! The program's `--json` output matches its schemas.

mod streams;

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

    let calls: [(&str, &[&str]); 9] = [
        ("doctor", &["doctor", "--json"]),
        ("index", &["index", &collection, "--json"]),
        ("index", &["index", &collection, "--json"]),
        ("status", &["status", "--json"]),
        ("doctor", &["doctor", "--json"]),
        ("search", &["search", QUESTION, "--json"]),
        ("answer", &["ask", QUESTION, "--json"]),
        ("path", &["path", "Edda Varnholt", "document:Cornelius Pellam", "--json"]),
        ("eval-retrieval", &["eval", "retrieval", "--questions", &questions, "--output", "run.jsonl", "--json"]),
    ];
    for (schema, args) in calls {
        let said = cli.run(args).succeeded();
        assert_valid(schema, &serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:#?}")));
    }
    for strategy in ["lexical", "dense", "hybrid", "hop", "trail", "rank", "layers", "auto"] {
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
#[ignore = "slow: `.ci/run` runs it"]
fn every_measurement_prints_and_writes_what_its_schema_promises() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let collection = examples.join("harbor").display().to_string();
    let questions = examples.join("harbor-questions.jsonl").display().to_string();
    let cli = Cli::new();
    cli.run(["index", &collection]).succeeded();

    let run = |strategy: &str, output: &str| {
        cli.run(["eval", "retrieval", "--questions", &questions, "--strategy", strategy, "--output", output, "--json"])
            .succeeded()
    };
    run("lexical", "a.jsonl");
    let retrieval = run("trail", "b.jsonl").stdout;
    let calls: [(&str, &[&str]); 4] = [
        ("eval-answers", &["answers", "--questions", &questions, "--output", "answers.jsonl", "--json"]),
        ("eval-compare", &["compare", "a.jsonl", "b.jsonl", "--questions", &questions, "--json"]),
        ("eval-sweep", &["sweep", "--questions", &questions, "--strategy", "hop", "--json"]),
        ("eval-fit", &["fit", "--questions", &questions, "--index", ".cairn", "--output", "weights.json", "--json"]),
    ];
    fs::create_dir(cli.folder().join("results")).unwrap();
    fs::write(cli.folder().join("results/trail.json"), retrieval).unwrap();
    for (schema, args) in calls {
        let said = cli.run(["eval"].iter().chain(args)).succeeded();
        assert_valid(schema, &serde_json::from_str(&said.stdout).unwrap_or_else(|error| panic!("{error}: {said:#?}")));
        fs::write(cli.folder().join(format!("results/{schema}.json")), said.stdout).unwrap();
        let shown = cli.run(["eval"].iter().chain(args).filter(|arg| **arg != "--json")).succeeded();
        assert!(shown.stdout.lines().count() > 3, "{shown:#?}");
    }
    for line in lines(&fs::read_to_string(cli.folder().join("answers.jsonl")).unwrap()) {
        assert_valid("answer-line", &line);
    }
    let weights = fs::read_to_string(cli.folder().join("weights.json")).unwrap();
    assert_valid("weights", &serde_json::from_str(&weights).unwrap());
    cli.run(["search", QUESTION, "--weights", "weights.json"]).succeeded();

    let said = cli.run(["eval", "report", "results", "--output", "page"]).succeeded();
    assert_eq!(said.stderr, "");
    let page = fs::read_to_string(cli.folder().join("page/results.md")).unwrap();
    for heading in ["Retrieval", "Answers", "Weights", "Rounds", "Comparisons"] {
        assert!(page.contains(&format!("## {heading}")), "{page}");
    }
    for plot in ["recall-by-hops.svg", "cost-by-size.svg"] {
        assert!(page.contains(plot) && cli.folder().join("page").join(plot).is_file(), "{page}");
    }
}

#[test]
fn a_fit_is_the_same_file_on_any_number_of_threads() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let questions = examples.join("harbor-questions.jsonl").display().to_string();
    let cli = Cli::new();
    cli.run(["index", &examples.join("harbor").display().to_string()]).succeeded();
    let fitted = |threads: &str| {
        // Folds repeat the fit on fewer questions.
        let args = ["eval", "fit", "--folds", "1", "--questions", &questions, "--index", ".cairn"];
        let status = cli
            .command([&args[..], &["--output", "weights.json"]].concat())
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap()
            .status;
        assert!(status.success());
        fs::read(cli.folder().join("weights.json")).unwrap()
    };
    assert_eq!(fitted("1"), fitted("3"));
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

#[test]
fn the_doctor_says_what_fails_and_ends_with_its_status() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let cli = Cli::new();
    let healthy = cli.run(["doctor"]).succeeded();
    assert!(healthy.stdout.contains("absent  index"), "{healthy:#?}");
    assert!(healthy.stdout.contains("works   embedder  static-256i8"), "{healthy:#?}");
    assert!(!healthy.stdout.contains("empty path"), "{healthy:#?}");
    cli.run(["index", &examples.join("harbor").display().to_string()]).succeeded();
    assert!(cli.run(["doctor"]).succeeded().stdout.contains("works   index     .cairn: version 1"));

    let missing = cli.run(["doctor", "--embedder", "onnx:no-such-folder"]);
    assert_eq!(missing.status, Some(3), "{missing:#?}");
    assert!(missing.stdout.contains("FAILS   embedder") && missing.stdout.contains("no such folder"), "{missing:#?}");

    let graph = cli.folder().join(".cairn/versions/1/graph.bin");
    let mut bytes = fs::read(&graph).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&graph, bytes).unwrap();
    let damaged = cli.run(["doctor"]);
    assert_eq!(damaged.status, Some(7), "{damaged:#?}");
    assert!(damaged.stdout.contains("FAILS   index"), "{damaged:#?}");
}
