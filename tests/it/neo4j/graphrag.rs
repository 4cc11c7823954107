//! Neo4j's own package for Python, `neo4j-graphrag`, on a published graph.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::support::left_out;
use crate::support::neo4j::{Database, harbor_database, require};

/// A question that a passage of the collection answers, so that its vector is in the graph.
const QUESTION: &str = "What is Little Heron Bridge?";
/// How far the scores of a vector index may differ from exact ones: it stores vectors as bytes.
const ROUNDING: f64 = 0.02;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/neo4j-graphrag")
}

/// Returns a Python with the package, installed once per target folder; none, after reporting it, if that is not
/// possible.
fn python() -> Option<PathBuf> {
    // Two tests may need it at the same time, each with its own server; only one may install it.
    static MADE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match MADE.get_or_init(make_python) {
        Ok(python) => Some(python.clone()),
        Err(why) => {
            require(why);
            left_out("it needs python3 with venv, 3.11 or later, and PyPI");
            None
        }
    }
}

fn make_python() -> Result<PathBuf, String> {
    let home = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("neo4j-graphrag");
    let (python, whole) = (home.join("bin/python"), home.join("whole.txt"));
    let wanted = fs::read_to_string(folder().join("requirements.txt")).unwrap();
    let mut import = Command::new(&python);
    import.args(["-c", "import neo4j, neo4j_graphrag"]);
    if fs::read_to_string(&whole).is_ok_and(|it| it == wanted) && succeed(&mut import).is_ok() {
        return Ok(python);
    }
    succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "-r"]);
    succeed(install.arg(folder().join("requirements.txt")))?;
    succeed(&mut import)?;
    fs::write(&whole, wanted).unwrap();
    Ok(python)
}

/// Runs a command; the error is its output.
fn succeed(command: &mut Command) -> Result<(), String> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()),
        Err(error) => Err(error.to_string()),
    }
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

/// Returns the passages nearest to the question's own vector, by comparing it with all: texts and scores.
fn nearest(database: &Database) -> Vec<(String, f64)> {
    let rows = database.rows(&format!(
        "MATCH (q:Incoming {{name: '{QUESTION}'}}) MATCH (p:Passage) \
        RETURN p.text AS text, vector.similarity.cosine(p.embedding, q.embedding) AS score ORDER BY score DESC LIMIT 3"
    ));
    rows.iter().map(|row| (row.get("text").unwrap(), row.get("score").unwrap())).collect()
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn retrievers_of_neo4j_graphrag_find_the_passages_of_a_published_graph() {
    let Some(python) = python() else { return };
    let Some((database, _cli)) = harbor_database() else { return };

    let found = retrieved(&python, &database, QUESTION);
    let text = |row: &Value| row["text"].as_str().unwrap().to_owned();
    let score = |row: &Value| row["score"].as_f64().unwrap();
    let expect = nearest(&database);
    let by_vector = &found["VectorRetriever"];
    assert_eq!(by_vector.len(), expect.len());
    for (row, (expected, exact)) in by_vector.iter().zip(&expect) {
        assert!(text(row) == *expected && (score(row) - exact).abs() < ROUNDING, "{row} is not {exact}: {expected}");
    }
    // The best by meaning is also the best by words, so it has the full score of both.
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

#[test]
fn statements_that_read_everything_say_so_as_the_manual_does() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/neo4j-cypher.md");
    let manual = fs::read_to_string(manual).unwrap().to_lowercase();
    let rows: Vec<&str> = manual.lines().filter(|it| it.starts_with("| ")).collect();
    let queries = saved_queries();
    assert!(queries.len() >= 7, "{queries:?}");
    for (title, first) in queries {
        let row = rows.iter().find(|it| it.starts_with(&format!("| {title}")));
        let row = row.unwrap_or_else(|| panic!("the table has no row of: {title}"));
        assert_eq!(row.contains("reads every"), first.contains("reads every"), "{first}\n{row}");
    }
}

/// Returns title and first line of each saved query, in lower case.
fn saved_queries() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docker/browser/queries");
    let query = |path: &Path| {
        let text = fs::read_to_string(path).unwrap().to_lowercase();
        let first = text.lines().next().unwrap().trim_start_matches("// ").to_owned();
        (first.split([':', '.', '(']).next().unwrap().trim_end().to_owned(), first)
    };
    fs::read_dir(folder).unwrap().map(|it| query(&it.unwrap().path())).collect()
}

/// Returns the statement in a printed row, and its database hits.
fn cost(row: &str) -> (&str, u64) {
    let mut columns = row.rsplit(" | ");
    let hits = columns.nth(1).unwrap().replace(',', "").parse().unwrap();
    (row.trim_start_matches("| ").split(" | ").next().unwrap(), hits)
}

mod long_tests {
    use super::*;

    /// The table in the manual is made from the output of this program, on a collection that is too large for a test.
    #[test]
    #[ignore = "it profiles every statement: `--test torture` runs it"]
    fn what_statements_for_users_cost_is_measured() {
        let Some(python) = python() else { return };
        let Some((database, _cli)) = harbor_database() else { return };
        let mut command = Command::new(python);
        command.arg(folder().join("statements.py")).args([&database.uri, "Edda Varnholt", "Cornelius Pellam", "1"]);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:#?}");
        let printed = String::from_utf8(output.stdout).unwrap();
        let costs: Vec<(&str, u64)> = printed.lines().skip(2).map(cost).collect();
        assert!(costs.len() >= 20 && costs.iter().all(|(_, hits)| *hits < 100_000), "{printed}");
        for (title, _) in saved_queries() {
            assert!(
                costs.iter().any(|(it, _)| it.trim_end().to_lowercase() == title),
                "{title} has no costs:\n{printed}"
            );
        }
    }
}
