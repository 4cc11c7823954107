//! What Neo4j Browser shows, the server's own in a real Chromium: the steps of an answer, in our style, with our guide
//! and saved queries, each loaded as the manual says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::browser::{Browser, Scheme, browser, key};
use crate::support::neo4j::{Database, harbor_database, require};
use crate::support::{Cli, left_out};

/// How long the Browser may take for any step, on a busy machine.
const SHOWN_MAX: Duration = Duration::from_mins(2);

const EDITOR: &str = "[data-testid=activeEditor] textarea";
const RUN: &str = "[data-testid=editor-Run]";

/// A script that returns the drawn nodes by number: caption and color.
const DRAWN: &str = "return Object.fromEntries([...document.querySelectorAll('svg g.node')].map(node => [
    node.getAttribute('aria-label').replace('graph-node', ''),
    { caption: node.textContent, color: node.querySelector('circle.b-outline').getAttribute('fill') }]));";
/// A script that returns the labels of the drawn arrows.
const ARROWS: &str = "return [...document.querySelectorAll('svg g.relationship')].map(it => it.textContent)";
/// A script that drops a file onto the page, as a user would.
const DROP: &str = "const files = new DataTransfer();
    files.items.add(new File([new Uint8Array(arguments[1])], arguments[0]));
    for (const name of ['dragenter', 'dragover', 'drop'])
        document.querySelector('[data-testid=main]').dispatchEvent(
            new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer: files }));";
/// An expression that is true when the Browser is connected. Until then, it takes the next step in the form, which
/// appears, moves and is rebuilt while the page starts: it chooses how to log in, then asks to connect, at most every 5
/// s.
const CONNECTED: &str = "(() => {
    if (/You are connected|working connection/.test(document.body.innerText)) return true;
    const choice = document.querySelector('[data-testid=authenticationMethod]');
    const button = document.querySelector('[data-testid=connect]');
    if (!choice || !button || Date.now() < (window.askedAt || 0) + 5000) return false;
    if (choice.value !== 'NO_AUTH') {
        Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(choice, 'NO_AUTH');
        choice.dispatchEvent(new Event('change', { bubbles: true }));
        return false;
    }
    window.askedAt = Date.now();
    button.click();
    return false;
})()";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docker/browser")
}

/// Goes to an address of the Browser and connects with its form.
fn connect(page: &Browser, url: &str) {
    page.resize(1400, 1000);
    page.prefer(Scheme::Light);
    page.go(url);
    page.wait_at_most(CONNECTED, SHOWN_MAX);
}

/// Clicks on the element of a selector until an expression is true, at most every 5 s: a new element may still move, or
/// not be ready for clicks.
fn click_until(page: &Browser, selector: &str, shown: &str) {
    page.run("window.clickedAt = 0");
    let step = format!(
        "(() => {{
            if ({shown}) return true;
            const button = document.querySelector('{selector}');
            if (button && Date.now() >= window.clickedAt + 5000) {{
                window.clickedAt = Date.now();
                button.click();
            }}
            return false;
        }})()"
    );
    page.wait_at_most(&step, SHOWN_MAX);
}

/// Runs the statement in the editor until a frame shows that a statement with `text` ran.
fn run_until_it_says(page: &Browser, text: &str) {
    let commands = "[...document.querySelectorAll('[data-testid=frameCommand]')]";
    click_until(page, RUN, &format!("{commands}.some(it => it.textContent.includes({}))", json!(text)));
}

/// Types a command into the editor and runs it.
fn command(page: &Browser, text: &str) {
    page.run(&format!("document.querySelector('{EDITOR}').focus()"));
    page.press_while(key::CONTROL, "a");
    page.press(text);
    run_until_it_says(page, text);
}

/// A server for style and guide, started as the manual says, which ends when this value is dropped.
struct Served {
    child: Child,
    /// The commands that it tells users to type.
    lines: Vec<String>,
}

impl Served {
    fn start() -> Option<Self> {
        let mut command = Command::new("python3");
        command.arg(folder().join("serve.py")).arg("0").stdout(Stdio::piped());
        match command.spawn() {
            Ok(mut child) => {
                let said = BufReader::new(child.stdout.take().unwrap());
                let lines = said.lines().take(2).map(Result::unwrap).collect();
                Some(Self { child, lines })
            }
            Err(error) => {
                require(&error.to_string());
                left_out("it needs python3");
                None
            }
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// Returns a database with the example collection, the folder with its index, and the address of the server's Browser.
fn harbor() -> Option<(Database, Arc<Cli>, String)> {
    let (database, cli) = harbor_database()?;
    let Some(pages) = database.pages.clone() else {
        left_out("it needs a server of its own, whose Browser it knows");
        return None;
    };
    Some((database, cli, pages))
}

/// Returns the colors of the style, by label.
fn colors() -> BTreeMap<String, String> {
    let style = fs::read_to_string(folder().join("style.grass")).unwrap();
    let rules = style.lines().filter_map(|line| line.strip_prefix("node.")?.split_once(" {"));
    let color = |rule: &str| rule.split(" color: ").nth(1).unwrap().split(';').next().unwrap().to_owned();
    rules.map(|(label, rule)| (label.to_owned(), color(rule))).collect()
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|it| !it.is_whitespace()).collect()
}

/// A caption is as much of a name as fits into the circle.
#[track_caller]
fn assert_caption(drawn: &Value, name: &str) {
    let caption = without_spaces(drawn["caption"].as_str().unwrap());
    let caption = caption.trim_end_matches('…');
    assert!(!caption.is_empty() && without_spaces(name).starts_with(caption), "`{caption}` is not of `{name}`");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn the_link_of_an_answer_draws_its_paths_with_names_and_in_our_style() {
    let Some((database, cli, pages)) = harbor() else { return };
    let Some(page) = browser() else { return };
    let Some(served) = Served::start() else { return };
    let question = "Where was the man who taught Edda Varnholt's father at college born?";
    let mut ask = cli.command(["ask", question, "--cypher", "--browser", &pages]);
    let said = ask.env("CAIRN_NEO4J_URI", &database.uri).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let link = said.lines().find(|line| line.starts_with(&pages)).unwrap();

    // The nodes on the path are known, and so is everything between them, which the Browser draws, too.
    let rows = database.rows(
        "MATCH (n) WHERE n:Passage AND n.title IN ['Edda Varnholt', 'Joachim Varnholt', 'Cornelius Pellam'] \
            AND n.position = 1 OR n:Entity AND n.folded IN ['joachim varnholt', 'cornelius pellam'] \
        RETURN toString(id(n)) AS id, n.name AS name, labels(n)[0] AS label",
    );
    let of = |row: &neo4rs::Row, name: &str| row.get::<String>(name).unwrap();
    let nodes: BTreeMap<String, (String, String)> =
        rows.iter().map(|row| (of(row, "id"), (of(row, "name"), of(row, "label")))).collect();
    let ids = nodes.keys().cloned().collect::<Vec<_>>().join(", ");
    let between = format!("MATCH (a)-[r]->(b) WHERE id(a) IN [{ids}] AND id(b) IN [{ids}] RETURN count(r) AS n");
    let arrows = usize::try_from(database.count(&between)).unwrap();

    connect(&page, link);
    click_until(&page, RUN, &format!("document.querySelectorAll('svg g.node').length === {}", nodes.len()));
    let drawn = page.run(DRAWN);
    let drawn: BTreeSet<&String> = drawn.as_object().unwrap().keys().collect();
    assert_eq!(drawn, nodes.keys().collect::<BTreeSet<_>>());
    page.wait_at_most(&format!("document.querySelectorAll('svg g.relationship').length === {arrows}"), SHOWN_MAX);

    assert!(served.lines[0].starts_with(":style http://localhost:"), "{:?}", served.lines);
    command(&page, &served.lines[0]);
    let colors = colors();
    let passage = &colors["Passage"];
    page.wait_at_most(&format!("document.querySelector('svg g.node circle.b-outline[fill=\"{passage}\"]')"), SHOWN_MAX);
    let drawn = page.run(DRAWN);
    for (id, (name, label)) in &nodes {
        assert_eq!(drawn[id]["color"], colors[label], "{name}");
        assert_caption(&drawn[id], name);
    }
    let texts = page.run(ARROWS);
    let asked = texts.as_array().unwrap().iter().filter(|it| it.as_str().unwrap().starts_with("Wh"));
    assert!(asked.count() >= 2, "the arrows do not bear questions: {texts}");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn the_guide_and_the_saved_queries_are_loaded_as_the_manual_says() {
    let Some((database, _cli, pages)) = harbor() else { return };
    let Some(page) = browser() else { return };
    let Some(served) = Served::start() else { return };
    connect(&page, &format!("{pages}/browser/?dbms={}", database.uri));
    assert!(served.lines[1].starts_with(":play http://localhost:"), "{:?}", served.lines);
    command(&page, &served.lines[1]);
    page.wait_at_most("document.querySelector('.slide h3')?.textContent === 'An index of Cairn'", SHOWN_MAX);
    // The statement that it shows can be run from it.
    let is_taken = "document.querySelector('[data-testid=activeEditor]').textContent.includes('i.documents')";
    click_until(&page, ".slide .runnable", is_taken);
    run_until_it_says(&page, "RETURN i.published AS published, i.documents");

    let place = tempfile::tempdir().unwrap();
    let zip = place.path().join("queries.zip");
    let mut pack = Command::new("python3");
    pack.args(["-m", "zipfile", "-c"]).arg(&zip).arg(folder().join("queries"));
    assert!(pack.status().unwrap().success());
    page.run_with(DROP, &json!(["queries.zip", fs::read(&zip).unwrap()]));
    let saved = "[data-testid=expandFolder-queries]";
    click_until(&page, "[data-testid=navigationFavorites]", &format!("document.querySelector('{saved}')"));
    let name = |entry: std::io::Result<fs::DirEntry>| {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        text.lines().next().unwrap().trim_start_matches("// ").to_owned()
    };
    let names: Vec<String> = fs::read_dir(folder().join("queries")).unwrap().map(name).collect();
    let shown = format!("{}.every(it => document.body.innerText.includes(it))", json!(names));
    click_until(&page, saved, &shown);
}
