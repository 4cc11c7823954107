//! The Cypher that users are shown: in the manual, as saved queries, and in the guide. All of it runs in
//! `cypher-shell`, as it stands, and finds something.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;

use cairn::neo4j::overview_cypher;
use serde_json::{Value, json};

use crate::support::neo4j::{database, harbor_database, shell};
use crate::support::{Cli, left_out};

use super::published;

/// Separates the answers of statements; no document contains it.
const MARK: &str = "=== next ===";

/// What people want to see: the beginnings of the names of saved queries.
const WANTED: [&str; 10] = [
    "A map to start from",
    "What mentions a name",
    "How two documents are connected",
    "What leads to a document and why",
    "One document from inside",
    "The path to an answer",
    "Hubs",
    "Orphans",
    "Questions that nothing answers",
    "What came with the last publish",
];
/// Maximum nodes of a picture with readable captions.
const DRAWN_MAX: usize = 26;
/// Maximum rows of a table that people look through.
const ROWS_MAX: usize = 100;

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

/// Returns every text between `start` and `end`.
fn between<'a>(text: &'a str, start: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(start).skip(1).map(move |it| it.split(end).next().unwrap())
}

/// A saved query: its name in the list, and its statement, in which parameters begin with `$`.
struct Saved {
    name: String,
    body: String,
    /// The parameters that its first line tells users to set, as Cypher literals.
    parameters: Vec<(String, String)>,
}

impl Saved {
    fn read(text: &str) -> Self {
        let (first, body) = text.split_once('\n').unwrap();
        let name = first.strip_prefix("// ").expect("a saved query is shown by its first line").to_owned();
        let said = name.find(":param ").map_or("", |at| &name[at + ":param ".len()..]);
        let parameters: Vec<(String, String)> = if let Some((name, value)) = said.split_once(" => ") {
            vec![(name.to_owned(), value.to_owned())]
        } else {
            let pairs = said.trim_matches(['{', '}']).split(", ").filter_map(|it| it.split_once(": "));
            pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
        };
        let body = body.trim().trim_end_matches(';').to_owned();
        let saved = Self { name, body, parameters };
        assert!(!saved.with_values().contains('$'), "what it needs has to be said: {text}");
        saved
    }

    fn all() -> Vec<Self> {
        files("docker/browser/queries").iter().map(|it| Self::read(it)).collect()
    }

    /// Returns its statement with values in place of the parameters.
    fn with_values(&self) -> String {
        let put = |text: String, (name, value): &(String, String)| text.replace(&format!("${name}"), value);
        self.parameters.iter().fold(self.body.clone(), put)
    }
}

/// Returns the saved queries as input for the shell, each after the parameters that its first line tells users to set.
fn saved() -> Vec<String> {
    let with_parameters = |it: Saved| {
        let parameters = it.name.find(":param").map_or("", |at| &it.name[at..]);
        if parameters.is_empty() { it.body } else { format!("{parameters};\n{}", it.body) }
    };
    Saved::all().into_iter().map(with_parameters).collect()
}

/// Returns the statements that the guide offers to run.
fn guide() -> Vec<String> {
    let guide = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("docker/browser/guide.html"));
    between(&guide, "runnable\">", "</pre>").map(|it| it.replace("&gt;", ">").replace("&lt;", "<")).collect()
}

/// Returns the statements in the manual, in blocks and in lines, and those that the guide offers to run.
fn examples() -> Vec<String> {
    let mut found = Vec::new();
    for page in files("docs") {
        found.extend(between(&page, "```cypher\n", "```").flat_map(|it| it.split(";\n")).map(str::to_owned));
        let lines = page.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
        let is_statement = |it: &&str| it.starts_with("MATCH ") && it.contains(" RETURN ");
        found.extend(lines.filter(is_statement).map(str::to_owned));
    }
    found.extend(guide());
    found
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn every_statement_for_users_runs_in_the_shell_and_finds_something() {
    let Some((database, _cli)) = harbor_database() else { return };
    let Some(mut shell) = shell(&database.uri) else { return };

    let (saved, examples) = (saved(), examples());
    assert!(saved.len() >= WANTED.len() && examples.len() >= 10, "{} and {}", saved.len(), examples.len());
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

#[test]
fn what_people_want_to_see_is_saved_and_the_guide_shows_the_same() {
    let saved = Saved::all();
    for wanted in WANTED {
        assert!(saved.iter().any(|it| it.name.starts_with(wanted)), "{wanted}");
    }
    let guide = guide();
    for saved in &saved {
        assert!(guide.contains(&saved.with_values()), "the guide has another `{}`", saved.name);
    }
}

/// What the Browser would draw of a statement: the numbers of the nodes, and the number of rows.
fn drawn(pages: &str, statement: &str) -> (BTreeSet<String>, usize) {
    let address = pages.trim_start_matches("http://");
    let body = json!({ "statements": [{ "statement": statement, "resultDataContents": ["graph"] }] }).to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    // With HTTP/1.0, so that the answer comes in one piece.
    write!(
        stream,
        "POST /db/neo4j/tx/commit HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\n\
        Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let answer: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(answer["errors"], json!([]), "{statement}");
    let rows = answer["results"][0]["data"].as_array().unwrap();
    let nodes = rows.iter().flat_map(|row| row["graph"]["nodes"].as_array().unwrap());
    (nodes.map(|it| it["id"].as_str().unwrap().to_owned()).collect(), rows.len())
}

/// Writes documents that mention the same names and each other, one of them with many sections and one without a title,
/// and others to which nothing leads.
fn write_crowd(cli: &Cli) {
    for number in 1..=40 {
        let [next, other] = [number % 40 + 1, (number + 7) % 40 + 1];
        let text = |place: usize| {
            format!(
                "Mill {number:02} was built by Ada Lorne at Harl Weir in {}. It took its water from Mill {next:02}, \
                which Ada Lorne sold to Mill {other:02} and to Joss Tarn of Port Aven.\n",
                1700 + number + place
            )
        };
        let sections = if number == 1 { 30 } else { 2 };
        let section = |it: usize| format!("\n## Part {it}\n\n{}", text(it).repeat(4));
        let sections: String = (1..=sections).map(section).collect();
        cli.write(&format!("crowd/{number:02}.md"), format!("# Mill {number:02}\n\n{}{sections}", text(0)));
    }
    for number in 0..=ROWS_MAX {
        let text = "In 1911 it was written by Enno Vark. It asks who Enno Vark taught.\n";
        cli.write(&format!("crowd/alone/{number:03}.md"), format!("# Leaf {number:03}\n\n{text}"));
    }
    cli.write("crowd/notes/plain.txt", "Ada Lorne was born in Port Aven. Mill 01 was built by Ada Lorne.\n");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn no_saved_query_draws_more_than_can_be_read() {
    let Some(database) = database() else { return };
    let Some(pages) = database.pages.clone() else {
        left_out("it needs a server of its own, whose Browser it knows");
        return;
    };
    let cli = Cli::new();
    write_crowd(&cli);
    cli.json(&["index", "crowd"]);
    published(&cli, &database);
    let mentioned = "MATCH (:Entity {name: 'Ada Lorne'})-[:MENTIONED_IN]->(p) RETURN count(p) AS n";
    assert!(usize::try_from(database.count(mentioned)).unwrap() > 2 * DRAWN_MAX, "the crowd is too small");

    let values = |it: &str| {
        let titles = it
            .replace("['Edda Varnholt', 'Joachim Varnholt', 'Cornelius Pellam']", "['Mill 05', 'Mill 06', 'Mill 01']");
        let titles = titles.replace("Edda Varnholt", "crowd/notes/plain.txt").replace("Cornelius Pellam", "Mill 01");
        titles.replace("{name: 'Heron Bridge'}", "{name: 'Ada Lorne'}").replace("'Heron Bridge'", "'Mill 01'")
    };
    let (nodes, rows) = drawn(&pages, overview_cypher());
    assert!(rows > 0 && nodes.len() <= DRAWN_MAX, "{} nodes, {rows} rows of the first look", nodes.len());
    for saved in Saved::all() {
        let (nodes, rows) = drawn(&pages, &values(&saved.with_values()));
        assert!(rows > 0 && nodes.len() <= DRAWN_MAX, "{} nodes, {rows} rows: {}", nodes.len(), saved.name);
        assert!(!nodes.is_empty() || rows <= ROWS_MAX, "{rows} rows: {}", saved.name);
    }
}
