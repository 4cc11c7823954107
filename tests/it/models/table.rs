//! The table of faults in `docs/models.md`: every fault of a server during every kind of call, played and written down.
//! `CAIRN_TEST_WRITE_DOCS=1` writes the results into the page.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use super::generating::two_mills;
use crate::support::chat::{ChatServer, Play, said};
use crate::support::{Cli, CommandOutput};

/// The lines before and after the table in the page.
const MARKS: [&str; 2] = ["<!-- faults: written by tests/it/models/table.rs -->\n", "<!-- end of faults -->"];

/// A kind of calls.
struct Site {
    /// Its name.
    name: &'static str,
    /// The command that makes one.
    args: &'static [&'static str],
    /// What the server does first: the tested call is not always the first one.
    before: fn() -> Vec<Play>,
}

/// Every kind of calls.
const SITES: [Site; 10] = [
    of("`index`, questions", &["index", "notes", "--model", "played", "--json"]),
    Site {
        name: "`index`, vectors",
        args: &["index", "notes", "--embedder", "server:vectors", "--index", "v", "--json"],
        before: || vec![Play::Embeds(8)],
    },
    of("`search`, the question's vector", &["search", "Who built Harl Mill?", "--index", "w", "--json"]),
    of("`ask`, an answer", &["ask", "Who built Harl Mill?", "--model", "played", "--json"]),
    Site {
        name: "`ask --check-citations`",
        args: &["ask", "Who built Harl Mill?", "--model", "played", "--check-citations", "--json"],
        before: || vec![answers()],
    },
    of("`--pick`", &["search", "Who built Harl Mill?", "--model", "played", "--pick", "--json"]),
    of("`--reranker model`", &["search", "Who built Harl Mill?", "--model", "played", "--reranker", "model", "--json"]),
    of("`--decompose`", &["search", "Who built Harl Mill?", "--model", "played", "--decompose", "--json"]),
    of("`--reason`", &["search", "Who built Harl Mill?", "--model", "played", "--reason", "judge-edges", "--json"]),
    of("`--entities`", &["search", "Who built Harl Mill?", "--model", "played", "--entities", "--json"]),
];

const fn of(name: &'static str, args: &'static [&'static str]) -> Site {
    Site { name, args, before: Vec::new }
}

/// Every fault, as a reader would describe it.
fn faults() -> Vec<(&'static str, Play)> {
    let responds = |status, headers, body: &str| Play::Responds(status, headers, body.to_owned());
    let whole = said("{}");
    vec![
        ("400, 413, 422: the request", responds(400, "", "{\"error\": \"too long\"}")),
        ("401, 403: the key", responds(401, "", "{}")),
        ("404, 501: no such thing", responds(404, "", "{}")),
        ("429, with or without `Retry-After`", responds(429, "Retry-After: 0\r\n", "{}")),
        ("500, 503", responds(503, "Retry-After: 0\r\n", "")),
        ("502, 504, 524: a gateway gave up", responds(502, "", "")),
        ("an error with status 200", responds(200, "", "{\"error\": {\"message\": \"full\"}}")),
        ("no JSON, or half of it", responds(200, "", &whole[..whole.len() / 2])),
        ("a connection that breaks", Play::BreaksOff),
        ("a connection that is closed", Play::Closes),
        ("nothing, until time is over", Play::Silent),
        ("more than 4 MiB (vectors: 32 MiB)", Play::Bytes(33 << 20)),
        ("a reply that is cut at its limit", responds(200, "", &whole.replace("\"stop\"", "\"length\""))),
        ("a refusal", responds(200, "", &whole.replace("\"stop\"", "\"content_filter\""))),
        ("a reply of no use", Play::Says("As a model, I think so.".to_owned())),
    ]
}

/// Returns the result of a fault during a kind of call, for the table.
fn outcome(play: &Play, site: &Site) -> String {
    let Site { args, before, .. } = site;
    let cli = two_mills();
    fs::remove_file(cli.folder().join("notes/Pale Mill.txt")).unwrap();
    let is_question = args[0] != "index";
    let server = ChatServer::start([Play::Embeds(8)]);
    let run = |args: &[&str]| {
        let mut command = cli.command(args);
        let command = command.env("CAIRN_MODEL_URL", &server.url).env("CAIRN_EMBEDDER_URL", &server.url);
        CommandOutput::of(command.output().unwrap())
    };
    if args.contains(&"w") {
        run(&["index", "notes", "--index", "w", "--embedder", "server:vectors"]).succeeded();
    } else if is_question {
        cli.run(["index", "notes"]).succeeded();
    }
    let asked = server.asked().len();
    server.play(before().into_iter().chain([play.clone()]));
    let said = run(args);
    let report: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
    let spent = ["/model/spent", "/vectors/spent", "/writing/spent", "/ledger/work/spent"];
    let spent = spent.iter().find_map(|place| report.pointer(place)).cloned().unwrap_or_default();
    let [calls, lost] = ["calls", "lost"].map(|name| spent[name].as_u64().unwrap_or(0));
    let mut text = match said.status {
        Some(0) if is_question => "goes on without".to_owned(),
        Some(0) => "the rest is indexed".to_owned(),
        Some(status) => format!("error, status {status}"),
        None => "killed".to_owned(),
    };
    write!(text, "; {} sent", server.asked().len() - asked - before().len()).unwrap();
    for (count, what) in [(calls, "paid"), (lost, "unknown")] {
        if count > 0 {
            write!(text, ", {count} {what}").unwrap();
        }
    }
    let kept = kept(&cli);
    if kept > 0 {
        write!(text, ", {kept} kept").unwrap();
    }
    text
}

/// Returns how many replies are kept.
fn kept(cli: &Cli) -> u64 {
    let stats = cli.run(["cache", "stats", "--json"]);
    let stats: Value = serde_json::from_str(&stats.stdout).unwrap_or_default();
    stats["replies"].as_u64().unwrap_or(0)
}

/// Returns the kinds of calls for each column: those with the same results share one.
fn columns(rows: &[(&str, Vec<String>)]) -> Vec<Vec<usize>> {
    let is_alike = |a: usize, b: usize| rows.iter().all(|(_, cells)| cells[a] == cells[b]);
    let mut columns: Vec<Vec<usize>> = Vec::new();
    for site in 0..SITES.len() {
        match columns.iter_mut().find(|sites| is_alike(sites[0], site)) {
            Some(sites) => sites.push(site),
            None => columns.push(vec![site]),
        }
    }
    columns
}

/// A model that answers, so that its citations can be checked.
fn answers() -> Play {
    let sentences = json!([{ "text": "Ada Lorne built Harl Mill.", "passages": [1] }]);
    Play::Says(json!({ "can_answer": true, "sentences": sentences }).to_string())
}

/// Returns the results of a fault during each kind of call, played concurrently.
fn row(play: &Play) -> Vec<String> {
    thread::scope(|scope| {
        let cells: Vec<_> = SITES.iter().map(|site| scope.spawn(move || outcome(play, site))).collect();
        cells.into_iter().map(|cell| cell.join().unwrap()).collect()
    })
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn the_table_of_faults_in_the_docs_is_what_comes_of_them() {
    let rows: Vec<(&str, Vec<String>)> = faults().into_iter().map(|(name, play)| (name, row(&play))).collect();
    let columns = columns(&rows);
    let names = columns.iter().map(|sites| sites.iter().map(|site| SITES[*site].name).collect::<Vec<_>>().join(", "));
    let names = names.collect::<Vec<String>>().join(" | ");
    let mut table = format!("| | {names} |\n|---|{}\n", "---|".repeat(columns.len()));
    for (name, cells) in rows {
        let cells: Vec<&str> = columns.iter().map(|sites| cells[sites[0]].as_str()).collect();
        writeln!(table, "| {name} | {} |", cells.join(" | ")).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/models.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(MARKS[0]).unwrap();
    let (in_page, after) = rest.split_once(MARKS[1]).unwrap();
    if std::env::var_os("CAIRN_TEST_WRITE_DOCS").is_some() {
        fs::write(&path, format!("{before}{}{table}{}{after}", MARKS[0], MARKS[1])).unwrap();
    } else {
        assert_eq!(in_page, table, "CAIRN_TEST_WRITE_DOCS=1 writes the page");
    }
}
