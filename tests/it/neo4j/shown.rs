//! The Cypher that users are shown: in the manual, as saved queries, and in the guide. All of it runs in
//! `cypher-shell`, as it stands, and finds something.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::support::Cli;
use crate::support::neo4j::{database, shell};

use super::{published, write_harbor};

/// What parts the answers of statements; no document says it.
const MARK: &str = "=== next ===";

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Returns the files of a folder of the repository, in order.
fn files(folder: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> = fs::read_dir(root.join(folder)).unwrap().map(|it| it.unwrap().path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let texts = paths.iter().filter(|path| path.extension().is_some_and(|it| it == "md" || it == "cypher"));
    texts.map(|path| read(path)).collect()
}

/// Returns what stands between `start` and `end`, as often as it does.
fn between<'a>(text: &'a str, start: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(start).skip(1).map(move |it| it.split(end).next().unwrap())
}

/// Returns the saved queries, each below the parameters that its first line says to set.
fn saved() -> Vec<String> {
    let with_parameters = |text: String| {
        let first = text.lines().next().unwrap();
        assert!(first.starts_with("// "), "a saved query is shown by its first line: {text}");
        let parameters = first.find(":param").map_or("", |at| &first[at..]);
        assert_eq!(parameters.is_empty(), !text.contains('$'), "what it needs has to be said: {text}");
        if parameters.is_empty() { text } else { format!("{parameters};\n{text}") }
    };
    files("docker/browser/queries").into_iter().map(with_parameters).collect()
}

/// Returns what the manual shows, in blocks and in lines, and what the guide lets one run.
fn examples() -> Vec<String> {
    let mut found = Vec::new();
    for page in files("docs") {
        found.extend(between(&page, "```cypher\n", "```").flat_map(|it| it.split(";\n")).map(str::to_owned));
        let lines = page.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
        let is_statement = |it: &&str| it.starts_with("MATCH ") && it.contains(" RETURN ");
        found.extend(lines.filter(is_statement).map(str::to_owned));
    }
    let guide = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docker/browser/guide.html"));
    found.extend(between(&guide, "runnable\">", "</pre>").map(|it| it.replace("&gt;", ">").replace("&lt;", "<")));
    found
}

#[test]
fn every_statement_for_users_runs_in_the_shell_and_finds_something() {
    let Some(database) = database() else { return };
    let Some(mut shell) = shell(&database.uri) else { return };
    let cli = Cli::new();
    write_harbor(&cli);
    cli.json(&["index", "harbor"]);
    published(&cli, &database);

    let (saved, examples) = (saved(), examples());
    assert!(saved.len() >= 7 && examples.len() >= 10, "{} and {}", saved.len(), examples.len());
    let statements: Vec<String> = [saved, examples].concat();
    let statements: Vec<&str> = statements.iter().map(|it| it.trim().trim_end_matches(';')).collect();
    let statements: Vec<&str> = statements.into_iter().filter(|it| !it.is_empty()).collect();
    let marked: Vec<String> = statements.iter().map(|it| format!("{it};\nRETURN '{MARK}' AS mark;\n")).collect();
    let script = marked.concat();

    let mut running = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    running.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}{said}", String::from_utf8_lossy(&output.stderr));
    let answers: Vec<&str> = said.split(&format!("mark\n\"{MARK}\"\n")).collect();
    assert_eq!(answers.len(), statements.len() + 1, "{said}");
    for (statement, answer) in statements.iter().zip(&answers) {
        // The first line has the names of the columns.
        assert!(answer.trim().lines().count() > 1, "it finds nothing: {statement}\n{answer}");
    }
}
