//! Options of an index, and their effects.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::documents;
use crate::support::{Cli, assert_valid, harbor};

/// Returns the edges of an index, each as the documents of its two passages.
fn edges(cli: &Cli, place: &str) -> Vec<(String, String)> {
    let lines: Vec<Value> = cli.canonical(place).lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let passages = lines.iter().filter_map(|line| line.get("passage"));
    let documents: BTreeMap<String, String> = passages.map(|it| (text(&it["id"]), text(&it["document"]))).collect();
    let edges = lines.iter().filter_map(|line| line.get("edge"));
    let document = |passage: &Value| documents[passage.as_str().unwrap()].clone();
    edges.map(|edge| (document(&edge["from"]), document(&edge["to"]))).collect()
}

#[test]
fn edges_within_and_across_documents_are_as_many_as_asked_for() {
    let cli = Cli::new();
    let collection = harbor().display().to_string();
    let index = |more: &[&str]| cli.json(&[&["index", &collection, "--sentence-passages"], more].concat());
    assert_eq!(documents(&index(&[])), [42, 0, 0, 0]);
    let both = edges(&cli, ".cairn").len();
    // Another quota makes another version of the same units.
    let report = index(&["--edges-within", "1"]);
    assert_eq!((documents(&report), &report["version"]), ([0, 0, 42, 0], &json!(2)));
    let within = edges(&cli, ".cairn");
    assert!(within.len() > 10 && within.iter().all(|(from, to)| from == to));
    index(&["--edges-across", "1"]);
    let across = edges(&cli, ".cairn");
    assert!(across.len() > 10 && across.iter().all(|(from, to)| from != to));
    index(&["--edges-across", "3", "--edges-within", "0"]);
    let more = edges(&cli, ".cairn");
    assert!(more.len() > across.len() && more.iter().all(|(from, to)| from != to));
    index(&["--edges-across", "1", "--edges-within", "1"]);
    assert!(edges(&cli, ".cairn").len() > across.len().max(within.len()));
    let report = index(&["--edges-across", "0", "--edges-within", "0"]);
    assert_eq!(report["counts"]["edges"], 0);
    assert!(report["warnings"].to_string().contains("only `hop` needs that"), "{report}");
    index(&[]);
    assert_eq!(edges(&cli, ".cairn").len(), both);
}

#[test]
fn passages_are_sentences_or_as_long_as_asked_for() {
    let cli = Cli::new();
    let collection = harbor().display().to_string();
    let index = |more: &[&str]| cli.json(&[&["index", &collection], more].concat());
    let structure = index(&[]);
    let short = index(&["--passage-tokens", "64"]);
    assert_eq!(documents(&short), [0, 42, 0, 0]);
    let sentences = index(&["--sentence-passages"]);
    let count = |report: &Value, what: &str| report["counts"][what].as_u64().unwrap();
    assert!(count(&structure, "passages") < count(&short, "passages"));
    assert!(count(&short, "passages") <= count(&sentences, "passages"));
    // A heading stays with what follows it.
    let lines: Vec<Value> = cli.canonical(".cairn").lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let passages = lines.iter().filter_map(|line| line.get("passage"));
    let mut plain = passages.filter(|it| !it["text"].as_str().unwrap().starts_with('#'));
    assert!(plain.all(|it| it["sentences"].as_array().unwrap().len() == 1));
    assert_eq!(count(&structure, "sentences"), count(&sentences, "sentences"));
    assert_valid("search", &cli.json(&["search", "Heron Bridge"]));
}

#[test]
fn without_a_title_field_nothing_has_a_title() {
    let cli = Cli::new();
    let collection = harbor().display().to_string();
    let titled = cli.json(&["index", &collection]);
    assert_eq!(titled["counts"]["titled"], 42);
    let untitled = cli.json(&["index", &collection, "--title-field", "none"]);
    assert_eq!((documents(&untitled), &untitled["counts"]["titled"]), ([0, 42, 0, 0], &json!(0)));
    for strategy in ["lexical", "dense", "hybrid", "hop", "trail"] {
        let found = cli.json(&["search", "Who taught the engineer of Heron Bridge?", "--strategy", strategy]);
        assert_eq!(found["hits"].as_array().unwrap().len(), 10, "{strategy}");
    }
}

#[test]
fn fields_of_records_are_those_that_were_named_and_the_rest_is_metadata() {
    let cli = Cli::new();
    let records = json!([
        { "key": 7, "name": "Mill", "body": "The mill stands by the Tarn.", "year": 1890, "by": null },
        { "key": "b", "body": "The Tarn is a river.", "tags": ["water", "north"] },
    ]);
    cli.write("notes/a.json", records.to_string());
    let fields = ["--id-field", "key", "--title-field", "name", "--text-field", "body"];
    let report = cli.json(&[&["index", "notes"][..], &fields].concat());
    assert_eq!((documents(&report), &report["counts"]["titled"]), ([2, 0, 0, 0], &json!(1)));
    let found = cli.json(&["search", "river mill", "--filter", "year=1890"]);
    let [hit] = found["hits"].as_array().unwrap().as_slice() else { panic!("{found}") };
    assert_eq!((&hit["source_id"], &hit["name"], &hit["uri"]), (&json!("7"), &json!("Mill"), &json!("notes/a.json#7")));
    assert_eq!(hit["metadata"], json!({ "year": "1890" }));
    let found = cli.json(&["search", "river", "--filter", r#"tags=["water","north"]"#, "--filter", "id=b"]);
    assert_eq!(found["hits"][0]["source_id"], "b");
}

#[test]
fn an_index_without_vectors_answers_by_words_alone() {
    let cli = Cli::new();
    let collection = harbor().display().to_string();
    let report = cli.json(&["index", &collection, "--embedder", "none"]);
    assert_eq!(report["counts"]["documents"], 42);
    assert_eq!(documents(&cli.json(&["index", &collection, "--embedder", "none"])), [0, 0, 42, 0]);
    let question = "Who taught the engineer of Heron Bridge?";
    for strategy in ["lexical", "hybrid", "hop", "trail", "auto"] {
        let answer = cli.json(&["ask", question, "--strategy", strategy]);
        assert_valid("answer", &answer);
        assert!(!answer["hits"].as_array().unwrap().is_empty(), "{strategy}");
    }
    cli.refuses(&["search", question, "--strategy", "dense"], "input", &["`dense`", "made without vectors"]);
}

#[test]
fn flags_choose_which_files_of_a_folder_are_read_and_others_go() {
    let cli = Cli::new();
    cli.write("notes/.gitignore", "build\n");
    for path in ["a.md", "b.txt", "drafts/c.md", "build/d.md", ".hidden/e.md"] {
        cli.write(&format!("notes/{path}"), format!("# Note {path}\n\nThe mill stands at the river."));
    }
    let count = |flags: &[&str]| {
        let report = cli.json(&[&["index", "notes", "--remove"], flags].concat());
        (report["counts"]["documents"].as_u64().unwrap(), report)
    };
    let (all, report) = count(&[]);
    assert_eq!(all, 3);
    let ignored = json!([{ "source": "1 file or folder", "reason": "named by .gitignore or .ignore" }]);
    assert_eq!(report["skips"], ignored);
    assert_eq!(count(&["--include", "*.md"]).0, 2);
    assert_eq!(count(&["--include", "*.md", "--exclude", "/drafts"]).0, 1);
    assert_eq!(count(&["--no-ignore"]).0, 4);
    assert_eq!(count(&["--no-ignore", "--hidden"]).0, 5 + 1);
    assert_eq!(count(&["--max-depth", "1"]).0, 2);
    let said = cli.run(["index", "notes", "--include", "{a"]);
    assert!(said.stderr.contains("`{a`"), "{said:#?}");
    let said = cli.run(["index", "notes", "--include", "*.nothing"]);
    assert!(said.stderr.contains("--no-ignore"), "{said:#?}");
}
