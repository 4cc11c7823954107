//! Reading the database: checks and repairs, clones, bulk imports, and the steps of an answer.

use std::fs;

use cairn::Workspace;
use serde_json::Value;

use crate::models::generating::{good, index, mills};
use crate::support::chat::{ChatServer, Play};
use crate::support::neo4j::{admin, database, harbor_database, rows, server};
use crate::support::{Cli, assert_valid, canonical};

use super::{assert_whole, published, write_harbor};

fn indexed() -> Cli {
    let cli = Cli::new();
    write_harbor(&cli);
    cli.json(&["index", "harbor"]);
    cli
}

/// Returns the names of the checks of a graph that fail.
pub(super) fn offending(cli: &Cli, uri: &str) -> Vec<String> {
    let said = cli.run(["check", "--json", "--neo4j", uri]);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_valid("check", &report);
    let offends = |it: &&Value| it["offenders"].as_u64() != Some(0);
    let found: Vec<String> = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(offends)
        .map(|it| it["check"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(said.status, Some(if found.is_empty() { 0 } else { 7 }), "{found:?}");
    found
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn what_was_changed_by_hand_is_found_and_repaired() {
    let Some(database) = database() else { return };
    let cli = indexed();
    cli.refuses(&["check", "--neo4j", &database.uri], "no_index", &["holds no index of Cairn"]);
    // Communities within others, and summaries of summaries; small collections only have them with this rule.
    cli.json(&["index", "harbor", "--hierarchy", "paper"]);
    published(&cli, &database);
    assert_eq!(offending(&cli, &database.uri), Vec::<String>::new());
    // Damages of one row are found and repaired together.
    let damages: [(&[&str], &[&str]); 5] = [
        (
            &[
                "MATCH (p:Passage) WITH p LIMIT 3 SET p.text = 'other'",
                "MATCH (:Passage)-[r:PART_OF]->() WITH r LIMIT 1 DELETE r",
                "MATCH ()-[r:ANSWERED_BY]->() WITH r LIMIT 2 DELETE r",
                "MATCH (:Community)-[r:PARENT_COMMUNITY]->() WITH r LIMIT 1 DELETE r",
                "MATCH (u:Unit) WITH u LIMIT 1 DELETE u",
            ],
            &[
                "contents",
                "passages-in-one-document",
                "questions-of-one-passage",
                "communities-within-one",
                "documents-have-units",
            ],
        ),
        (&["MATCH ()-[r:LEADS_TO]->() WITH r LIMIT 1 SET r.similarity = 0.5"], &["contents"]),
        (&["MATCH ()-[r:SUMMARIZED_BY]->() WITH r LIMIT 1 SET r.weight = 0.75"], &["contents"]),
        (
            &[
                "MATCH (s:Summary {layer: 1}) WITH s LIMIT 1 SET s.layer = 3",
                "MATCH (p:Passage) WITH p LIMIT 1 SET p.embedding = [1.0]",
            ],
            &["contents", "summaries-of-the-layer-below", "vectors-of-one-dimension"],
        ),
        (
            &[
                "MATCH (s:Summary)<-[r:SUMMARIZED_BY]-() WITH s LIMIT 1 MATCH (s)<-[r:SUMMARIZED_BY]-() DELETE r",
                "MATCH (p:Passage) WITH p LIMIT 1 DETACH DELETE p",
            ],
            &["counts", "summaries-of-the-layer-below"],
        ),
    ];
    for (damages, expect) in damages {
        database.run(damages.iter().copied());
        if expect.contains(&"counts") {
            let read = cli.run(["export", "--canonical", "--neo4j", &database.uri]);
            assert!(read.status == Some(7) && read.stderr.contains("another number of passages"), "{read:#?}");
        }
        let found = offending(&cli, &database.uri);
        assert!(expect.iter().all(|it| found.iter().any(|found| found == it)), "{damages:?}: {found:?}");
        let said = cli.run(["check", "--neo4j", &database.uri, "--repair"]).succeeded();
        assert!(said.stderr.contains("wrong: "), "{damages:?}: {}", said.stderr);
        assert_whole(&cli, &database);
    }
}

#[test]
fn what_a_model_wrote_is_published_as_such_and_a_clone_does_not_ask_for_it_again() {
    let Some(database) = database() else { return };
    let (cli, model) = (mills(), ChatServer::start([good()]));
    let fails = Play::Says("no questions".to_owned());
    let failing = ChatServer::start([fails]);
    index(&cli, &failing, &["--budget", "1calls"]).succeeded();
    index(&cli, &model, &["--keep-rule-questions", "--budget", "8calls"]).succeeded();
    published(&cli, &database);
    assert_whole(&cli, &database);
    let by_model = "MATCH (q:Question {origin: 'model'}) RETURN count(q) AS n";
    assert_eq!(database.count(by_model), 8 * 6);
    assert!(database.count("MATCH (q:Question {origin: 'rule'}) RETURN count(q) AS n") > 12);

    cli.run(["clone", &database.uri, "cloned"]).succeeded();
    assert_eq!(cli.canonical("cloned"), cli.canonical(".cairn"));
    index(&cli, &model, &["--keep-rule-questions", "--index", "cloned"]).succeeded();
    assert_eq!(model.asked().len(), 12);
    // All questions of a passage are replaced in the graph, too.
    index(&cli, &model, &[]).succeeded();
    published(&cli, &database);
    assert_whole(&cli, &database);
    assert_eq!(database.count(by_model), 12 * 6);
    assert_eq!(database.count("MATCH (q:Question {origin: 'rule'}) RETURN count(q) AS n"), 0);
}

#[test]
fn a_clone_equals_the_index_and_can_be_updated() {
    let Some(database) = database() else { return };
    let cli = indexed();
    // The settings that an index remembers are included.
    cli.json(&["index", "harbor", "--hierarchy", "paper"]);
    published(&cli, &database);
    let said = cli.run(["clone", &database.uri, "cloned"]).succeeded();
    assert!(said.stderr.contains("42 documents"), "{}", said.stderr);
    let (first, second) = (cli.folder().join(".cairn"), cli.folder().join("cloned"));
    assert!(canonical(&first) == canonical(&second));
    let units = |path: &std::path::Path| Workspace::open(path).unwrap().records().unwrap().documents().unwrap();
    assert_eq!(units(&first), units(&second));
    // Nothing is done again, in the index or in the database.
    let report = cli.json(&["index", "harbor", "--index", "cloned", "--hierarchy", "paper"]);
    assert_eq!(
        (report["version"].as_u64(), report["documents"]["unchanged"].as_u64()),
        (Some(1), Some(42)),
        "{report}"
    );
    let report = cli.json(&["publish", "--index", "cloned", "--neo4j", &database.uri]);
    assert_eq!(report["written"], 0, "{report}");
    let said = cli.run(["clone", &database.uri, "cloned"]);
    assert!(said.status == Some(3) && said.stderr.contains("has an index already"), "{said:#?}");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_bulk_import_holds_what_publishing_would_have_written() {
    let home = tempfile::tempdir().unwrap();
    let Some(mut server) = server(home.path(), "") else { return };
    let cli = indexed();
    cli.run(["export", "--format", "neo4j-import", "load"]).succeeded();
    server.kill();
    let arguments = fs::read_to_string(cli.folder().join("load/arguments")).unwrap();
    let mut import = admin(home.path()).unwrap();
    import.args(["database", "import", "full", "neo4j"]).args(arguments.split_whitespace());
    let output = import.current_dir(cli.folder().join("load")).output().unwrap();
    assert!(output.status.success(), "{output:#?}");
    server.resume();
    let report = cli.json(&["publish", "--neo4j", &server.uri()]);
    assert_eq!((report["written"].as_u64(), report["version"].as_u64()), (Some(0), Some(1)), "{report}");
    let exported = cli.run(["export", "--canonical", "--neo4j", &server.uri()]).succeeded().stdout;
    assert!(exported == cli.canonical(".cairn"));
    assert_eq!(offending(&cli, &server.uri()), Vec::<String>::new());
}

#[test]
fn the_cypher_of_an_answer_shows_its_passages_and_steps() {
    let Some((database, cli)) = harbor_database() else { return };
    let question = "Where was the man who taught Edda Varnholt's father at college born?";
    let said = cli.run(["ask", question, "--cypher"]).succeeded();
    let (_, query) = said.stdout.split_once("// The path to an answer").unwrap();
    let (query, link) = query.split_once("http://localhost:7474/browser/?dbms=bolt://localhost:7687&").unwrap();
    assert!(link.starts_with("cmd=edit&arg=%2F%2F%20The%20path"), "{link}");
    let (_, query) = query.split_once('\n').unwrap();
    let rows = rows(&database.uri, query);
    let text = |row: &neo4rs::Row, node: &str, property: &str| {
        let node: Option<neo4rs::Node> = row.get(node).unwrap();
        node.map(|node| node.get::<String>(property).unwrap())
    };
    let is_drawn = |row: &neo4rs::Row, name: &str| row.get::<Option<neo4rs::Path>>(name).unwrap().is_some();
    let (steps, passages): (Vec<_>, Vec<_>) = rows.iter().partition(|row| text(row, "b", "title").is_some());
    let step = |row: &&neo4rs::Row| {
        assert!(is_drawn(row, "question") && is_drawn(row, "leaves") && is_drawn(row, "arrives"), "{row:?}");
        [("a", "title"), ("e", "name"), ("b", "title")].map(|(node, property)| text(row, node, property).unwrap())
    };
    let mut steps: Vec<[String; 3]> = steps.iter().map(step).collect();
    steps.sort();
    let expected = [
        ["Edda Varnholt", "Joachim Varnholt", "Joachim Varnholt"],
        ["Joachim Varnholt", "Cornelius Pellam", "Cornelius Pellam"],
    ];
    assert_eq!(steps, expected);
    let mut passages: Vec<String> = passages.iter().map(|row| text(row, "a", "title").unwrap()).collect();
    passages.sort();
    assert_eq!(passages, ["Cornelius Pellam", "Edda Varnholt", "Joachim Varnholt"]);
}
