//! Neo4j's own package for Python, `neo4j-graphrag`, on a published graph.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::neo4j::{Database, database, require};
use crate::support::{Cli, left_out};

use super::{published, write_harbor};

/// A question that a passage of the collection answers, so that its vector is in the graph.
const QUESTION: &str = "What is Little Heron Bridge?";
/// How far the scores of a vector index may be from the exact ones: it keeps vectors in bytes.
const ROUNDING: f64 = 0.02;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/neo4j-graphrag")
}

/// Returns a Python with the package, made once a target folder; none, and says so, where it cannot be made.
fn python() -> Option<PathBuf> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("neo4j-graphrag");
    let (python, whole) = (home.join("bin/python"), home.join("whole.txt"));
    let wanted = fs::read_to_string(folder().join("requirements.txt")).unwrap();
    if fs::read_to_string(&whole).is_ok_and(|it| it == wanted) {
        return Some(python);
    }
    let mut make = Command::new("python3");
    make.args(["-m", "venv", "--clear"]).arg(&home);
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r"]);
    install.arg(folder().join("requirements.txt"));
    for command in [&mut make, &mut install] {
        let why = match command.output() {
            Ok(output) if output.status.success() => continue,
            Ok(output) => String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
            Err(error) => error.to_string(),
        };
        require(&why);
        left_out("it needs python3 with venv, 3.11 or later, and PyPI");
        return None;
    }
    fs::write(&whole, wanted).unwrap();
    Some(python)
}

/// Returns what each retriever found for a question, best first.
fn retrieved(python: &Path, database: &Database, question: &str) -> BTreeMap<String, Vec<Value>> {
    let mut command = Command::new(python);
    let output = command.arg(folder().join("retrieve.py")).args([&database.uri, question]).output().unwrap();
    assert!(output.status.success(), "{output:#?}");
    let mut found: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        found.entry(row["retriever"].as_str().unwrap().to_owned()).or_default().push(row);
    }
    found
}

/// Returns what is nearest to the question's own vector, by comparing it with every passage: texts and scores.
fn nearest(database: &Database) -> Vec<(String, f64)> {
    let rows = database.rows(&format!(
        "MATCH (q:Incoming {{name: '{QUESTION}'}}) MATCH (p:Passage) \
        RETURN p.text AS text, vector.similarity.cosine(p.embedding, q.embedding) AS score ORDER BY score DESC LIMIT 3"
    ));
    rows.iter().map(|row| (row.get("text").unwrap(), row.get("score").unwrap())).collect()
}

#[test]
fn retrievers_of_neo4j_graphrag_find_the_passages_of_a_published_graph() {
    let Some(database) = database() else { return };
    let Some(python) = python() else { return };
    let cli = Cli::new();
    write_harbor(&cli);
    cli.json(&["index", "harbor"]);
    published(&cli, &database);

    let found = retrieved(&python, &database, QUESTION);
    let text = |row: &Value| row["text"].as_str().unwrap().to_owned();
    let score = |row: &Value| row["score"].as_f64().unwrap();
    let expect = nearest(&database);
    let by_vector = &found["VectorRetriever"];
    assert_eq!(by_vector.len(), expect.len());
    for (row, (expected, exact)) in by_vector.iter().zip(&expect) {
        assert!(text(row) == *expected && (score(row) - exact).abs() < ROUNDING, "{row} is not {exact}: {expected}");
    }
    // The best by meaning is also the best by words, so that it has the whole score of both.
    let hybrid = &found["HybridRetriever"];
    assert!(text(&hybrid[0]) == expect[0].0 && (score(&hybrid[0]) - 1.0).abs() < 1e-9, "{hybrid:#?}");
    assert!(hybrid.windows(2).all(|pair| score(&pair[0]) >= score(&pair[1])), "{hybrid:#?}");

    let along_names = &found["AlongNames"];
    let is_of_it = |row: &Value| row["title"].as_str().is_some_and(|title| title.contains("Heron Bridge"));
    assert!(along_names.len() == 3 && along_names.iter().any(is_of_it), "{along_names:#?}");

    let by_question = &found["VectorCypherRetriever"];
    assert_eq!(by_question.len(), 3);
    assert!(by_question[0]["question"] == QUESTION && score(&by_question[0]) > 1.0 - ROUNDING, "{by_question:#?}");
    for row in by_question {
        let answered = format!(
            "MATCH (:Incoming {{name: {}}})-[:ANSWERED_BY]->(p:Passage {{title: {}}}) RETURN count(p) AS n",
            row["question"], row["title"]
        );
        assert!(database.count(&answered) > 0, "no passage answers it: {row}");
    }
}

#[test]
fn the_python_that_is_shown_is_the_python_that_runs() {
    let program = fs::read_to_string(folder().join("retrieve.py")).unwrap();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/neo4j-graphrag.md");
    let page = fs::read_to_string(page).unwrap();
    let shown: Vec<&str> = page.split("```python\n").skip(1).map(|it| it.split("```").next().unwrap()).collect();
    assert!(shown.len() >= 4);
    for part in shown {
        assert!(program.contains(part), "it is not in the program: {part}");
    }
}
