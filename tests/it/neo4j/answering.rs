//! Answering from the database alone: the same answers as from disk.

use std::sync::Arc;

use cairn::graph::ordinal::{IncomingOrdinal, Ordinal as _, OutgoingOrdinal};
use cairn::neo4j::{DatabaseGraph, ReadFrom, Traversal, TraversalOptions};
use cairn::query::{Filter, QuerySyntax};
use cairn::store::{GraphReader, GraphSource as _, TextField};
use cairn::workspace::Snapshot;
use cairn::{AskOptions, Performers, QueryEngine, SearchOptions, StrategyKind, Workspace};

use serde_json::{Value, json};

use crate::support::chat::{ChatServer, Play};
use crate::support::neo4j::{Database, database, harbor_database};
use crate::support::{Cli, CommandOutput, block_on, harbor_files};

use super::{published, write_harbor};

/// Questions about the demo collection, with one hop and more.
pub(super) const QUESTIONS: [&str; 4] = [
    "Who taught the engineer of Heron Bridge?",
    "When was Heron Bridge opened?",
    "In which town was the founder of Harl Mill born?",
    "Who designed the bridge near the mill?",
];

pub(super) fn published_harbor(database: &Database) -> (Cli, Workspace) {
    let cli = Cli::new();
    write_harbor(&cli);
    cli.json(&["index", "harbor"]);
    published(&cli, database);
    let workspace = Workspace::open(cli.folder().join(".cairn")).unwrap();
    (cli, workspace)
}

/// Checks that a structure equals that of an index, array by array.
#[track_caller]
fn assert_same(held: &dyn GraphReader, kept: &Snapshot) {
    for ((name, held), (_, kept)) in held.graph().sections().into_iter().zip(kept.graph().sections()) {
        assert!(held == kept, "the array `{name}` differs: {} and {} bytes", held.len(), kept.len());
    }
    assert_eq!(held.counts(), kept.counts());
    assert_eq!(held.embedder(), kept.embedder());
    for passage in kept.graph().passages() {
        assert_eq!(held.passage_id(passage), kept.passage_id(passage));
    }
    for document in kept.graph().documents() {
        assert_eq!(held.document(document).unwrap(), kept.document(document).unwrap());
    }
    let counts = kept.counts();
    assert!(
        IncomingOrdinal::first(counts.incoming as usize)
            .all(|question| held.incoming(question) == kept.incoming(question))
    );
    assert!(
        OutgoingOrdinal::first(counts.outgoing as usize)
            .all(|question| held.outgoing(question) == kept.outgoing(question))
    );
    kept.each_term(&mut |term, passages, sentences| {
        assert_eq!(held.frequency(TextField::Passage, term).unwrap(), passages as usize, "{term}");
        assert_eq!(held.frequency(TextField::Sentence, term).unwrap(), sentences as usize, "{term}");
    })
    .unwrap();
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_structure_read_again_or_from_a_copy_is_that_of_the_index() {
    let Some(database) = database() else { return };
    let (cli, workspace) = published_harbor(&database);
    let copies = tempfile::tempdir().unwrap();
    let options = TraversalOptions { cache: Some(copies.path().join("kept")), ..TraversalOptions::default() };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let open = || runtime.block_on(DatabaseGraph::open(&database.target(), options.clone())).unwrap();
    let graph = open();
    let published_anew = || {
        cli.json(&["index", "harbor"]);
        published(&cli, &database);
        workspace.snapshot().unwrap()
    };
    let (name, text) = harbor_files().remove(1);
    let (name, another) = (format!("harbor/{name}"), format!("harbor/{}", harbor_files()[2].0));
    // Some documents change, are added, removed or renamed, and one changes in more places than fit into one
    // transaction.
    for (name, text) in [
        (name.as_str(), Some(format!("An earlier line about Harl Mill.\n\n{text}"))),
        ("harbor/tower.txt", Some("Toll Tower\n\nToll Tower was built by Ada Lorne in 1911.".to_owned())),
        (&another, None),
        ("harbor/tower.txt", Some("Harl Mill\n\nHarl Mill was rebuilt by Ben Lorne in 1912. ".repeat(40))),
    ] {
        match text {
            Some(text) => drop(cli.write(name, text)),
            None => std::fs::remove_file(cli.folder().join(name)).unwrap(),
        }
        let kept = published_anew();
        assert_same(runtime.block_on(graph.refresh()).unwrap().as_ref(), &kept);
        assert_eq!(graph.read_from(), ReadFrom::Database, "{name}");
        let opened = open();
        assert_eq!(opened.read_from(), ReadFrom::Copy);
        assert_same(opened.reader().as_ref(), &kept);
    }
    // If the copy is damaged, everything is read.
    let kept = workspace.snapshot().unwrap();
    for file in std::fs::read_dir(copies.path().join("kept")).unwrap() {
        std::fs::write(file.unwrap().path(), "no copy").unwrap();
    }
    let opened = open();
    assert_eq!(opened.read_from(), ReadFrom::Database);
    assert_same(opened.reader().as_ref(), &kept);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn every_strategy_finds_what_it_finds_in_the_index() {
    let Some((database, cli)) = harbor_database() else { return };
    let workspace = Workspace::open(cli.folder().join(".cairn")).unwrap();
    block_on(async {
        let from_database = QueryEngine::open_neo4j(&database.target(), Performers::built_in()).await.unwrap();
        let from_disk = QueryEngine::open(&workspace, Performers::built_in()).unwrap();
        for question in QUESTIONS {
            for strategy in ["lexical", "dense", "hybrid", "hop", "trail", "rank", "layers"] {
                let strategy: StrategyKind = strategy.parse().unwrap();
                let options = SearchOptions { strategy, ..SearchOptions::default() };
                let ids = async |engine: &QueryEngine| {
                    let found = engine.search(question, &options).await.unwrap();
                    found.hits.into_iter().map(|hit| (hit.passage, hit.text, hit.path.len())).collect::<Vec<_>>()
                };
                assert_eq!(ids(&from_database).await, ids(&from_disk).await, "{strategy}: {question}");
            }
            let options = AskOptions::default();
            let (held, kept) = (from_database.ask(question, &options).await, from_disk.ask(question, &options).await);
            let (held, kept) = (held.unwrap(), kept.unwrap());
            assert_eq!((held.text, held.citations, held.guess), (kept.text, kept.citations, kept.guess), "{question}");
        }
    });
}

/// The database sends its texts in several answers, and they are matched here.
#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_regular_expression_finds_what_it_finds_in_the_index() {
    let Some(database) = database() else { return };
    let cli = Cli::new();
    let record = |number: usize| {
        let text = match number % 3 {
            0 => format!("Mill {number} grinds, and mill {number} stands by the river Tärn."),
            1 => format!("Weir {number}:\n    level = {number}"),
            _ => format!("The abbey of Saint {number}. It owns a mill."),
        };
        let kind = if number.is_multiple_of(2) { "even" } else { "odd" };
        json!({ "id": format!("r{number}"), "text": text, "kind": kind })
    };
    let records: Vec<String> = (0..1_100).map(|number| record(number).to_string()).collect();
    cli.write("notes.jsonl", records.join("\n"));
    cli.json(&["index", "notes.jsonl"]);
    published(&cli, &database);
    let from_disk =
        QueryEngine::open(&Workspace::open(cli.folder().join(".cairn")).unwrap(), Performers::built_in()).unwrap();
    block_on(async {
        for traversal in [Traversal::Memory, Traversal::Cypher] {
            let options = TraversalOptions { traversal, ..TraversalOptions::default() };
            let graph = DatabaseGraph::open(&database.target(), options).await.unwrap();
            let from_database = QueryEngine::over_source(Arc::new(graph), Performers::built_in()).unwrap();
            for (query, filter, top_k) in [
                ("/level = [0-9]*7$/", None, 1_000),
                ("/mill [0-9]+/i", None, 7),
                ("/(?i)MILL [0-9]+/", None, 7),
                ("/river T.rn/", Some("kind=odd"), 20),
                ("/abbey|weir/i", Some("id=r5*"), 5),
                ("/windmill/", None, 10),
                ("/windmill/", Some("kind=odd"), 10),
                ("/abbey/", Some("kind=neither"), 10),
                ("/\\bSaint (?<number>[0-9]{1,2})\\./", None, 50),
            ] {
                let filters = filter.map(|it| Filter::parse(it).unwrap()).into_iter().collect();
                let options = SearchOptions { syntax: QuerySyntax::Search, filters, top_k, ..SearchOptions::default() };
                let found = async |engine: &QueryEngine| {
                    let found = engine.search(query, &options).await.unwrap();
                    assert_eq!(found.strategy, "regex");
                    (found.hits, found.ledger.entry)
                };
                let (held, kept) = (found(&from_database).await, found(&from_disk).await);
                assert_eq!(held, kept, "{traversal}: {query} {filter:?}");
                assert_eq!(query.contains("windmill") || filter == Some("kind=neither"), kept.0.is_empty(), "{query}");
            }
            let options = SearchOptions { syntax: QuerySyntax::Search, ..SearchOptions::default() };
            let found = from_database.search("/abbey/", &options).await.unwrap();
            assert_eq!(found.ledger.notes, ["366 passages match; those with most matches are shown"]);
        }
    });
    let said = cli.run(["search", "/grinds, and mill 9 /", "--neo4j", &database.uri]).succeeded();
    assert!(said.stdout.contains("Mill 9 grinds"), "{said:#?}");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_new_version_is_answered_from_with_the_next_question() {
    let Some(database) = database() else { return };
    let (cli, _workspace) = published_harbor(&database);
    let options = SearchOptions { top_k: 1, ..SearchOptions::default() };
    let first = async |engine: &QueryEngine| {
        let found = engine.search("Who built Toll Tower?", &options).await.unwrap();
        (found.version.0, found.hits[0].name.clone())
    };
    let republish = || {
        cli.json(&["index", "harbor"]);
        cli.json(&["publish", "--neo4j", &database.uri]);
    };
    block_on(async {
        let engine = QueryEngine::open_neo4j(&database.target(), Performers::built_in()).await.unwrap();
        assert!(first(&engine).await.1 != "Toll Tower");
        cli.write("harbor/tower.txt", "Toll Tower\n\nToll Tower was built by Ada Lorne in 1911.");
        republish();
        assert_eq!(first(&engine).await, (2, "Toll Tower".to_owned()));
        cli.write("harbor/tower.txt", "Toll Tower\n\nToll Tower was built by Ben Lorne in 1912.");
        republish();
        let found = engine.search("Who built Toll Tower?", &options).await.unwrap();
        assert!(found.hits[0].text.contains("Ben Lorne"), "{:?}", found.hits[0]);
    });
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_folder_without_an_index_searches_and_asks_in_the_database() {
    let Some((database, cli)) = harbor_database() else { return };
    let elsewhere = Cli::new();
    for question in QUESTIONS {
        let passages = |found: &serde_json::Value| -> Vec<String> {
            found["hits"].as_array().unwrap().iter().map(|hit| hit["passage"].to_string()).collect()
        };
        let held = elsewhere.json(&["search", question, "--neo4j", &database.uri]);
        assert_eq!(passages(&held), passages(&cli.json(&["search", question])), "{question}");
        let held = elsewhere.json(&["ask", question, "--neo4j", &database.uri]);
        assert_eq!(held["text"], cli.json(&["ask", question])["text"], "{question}");
    }
    let said = elsewhere.run(["ask", QUESTIONS[0], "--cypher", "--neo4j", &database.uri]).succeeded();
    let address = database.uri.trim_start_matches("bolt://");
    assert!(said.stdout.contains(&format!("/browser/?dbms=bolt://{address}&")), "{said:#?}");
    elsewhere.refuses(&["ask", QUESTIONS[0]], "no_index", &["hint: make one"]);
    elsewhere.refuses(&["ask", QUESTIONS[0], "--neo4j", "bolt://127.0.0.1:1"], "unavailable", &["hint: check that"]);
    let other = ["ask", QUESTIONS[0], "--neo4j", &database.uri, "--embedder", "none"];
    elsewhere.refuses(&other, "incompatible", &["static-256i8"]);
}

#[test]
fn a_model_writes_from_what_the_database_holds_and_nothing_is_kept_here() {
    let Some((database, _cli)) = harbor_database() else { return };
    let sentences = json!([{ "text": "The engineer was taught at college.", "passages": [1] }]);
    let says = json!({ "can_answer": true, "sentences": sentences }).to_string();
    let (elsewhere, server) = (Cli::new(), ChatServer::start([Play::Says(says)]));
    let args = ["ask", "--json", QUESTIONS[0], "--neo4j", &database.uri, "--model", "played"];
    let said =
        CommandOutput::of(elsewhere.command(args).env("CAIRN_MODEL_URL", &server.url).output().unwrap()).succeeded();
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!((&answer["kind"], &answer["text"]), (&json!("written"), &sentences[0]["text"]));
    assert_eq!(server.asked().len(), 1);
    assert!(!elsewhere.folder().join(".cairn").exists());
}

#[test]
fn an_embedder_behind_a_server_is_asked_for_the_question_and_for_nothing_else() {
    let Some(database) = database() else { return };
    let (cli, server) = (Cli::new(), ChatServer::start([Play::Embeds(32)]));
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne. It burned down twice.");
    let model = format!("[model]\nserver = \"vllm\"\nembedder_url = \"{}\"\n", server.url);
    cli.configure(format!("embedder = \"vllm:played\"\n{model}"));
    cli.json(&["index", "notes"]);
    published(&cli, &database);
    for (strategy, calls) in [("dense", 1), ("lexical", 0)] {
        let before = server.asked().len();
        let args = ["search", "Who built Harl Mill?", "--strategy", strategy, "--neo4j", &database.uri];
        assert_eq!(cli.json(&args)["hits"][0]["name"], "Harl Mill");
        assert_eq!(server.asked().len() - before, calls, "{strategy}");
    }
    // Unless the user says so, a name in the graph causes no request, not even to the server's usual address.
    cli.configure("");
    let search = ["search", "Who built Harl Mill?", "--neo4j", &database.uri, "--strategy"];
    cli.refuses(&[&search[..], &["dense"]].concat(), "input", &["`http://localhost:8000/v1`", "not confirmed"]);
    assert_eq!(cli.json(&[&search[..], &["lexical"]].concat())["hits"][0]["name"], "Harl Mill");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_filter_holds_in_the_database_too() {
    let Some(database) = database() else { return };
    let cli = Cli::new();
    let record = |id: &str, kind: &str| {
        format!(
            "{{\"id\":\"{id}\",\"title\":\"{id}\",\"text\":\"{id} was built by Ada Lorne.\",\"kind\":\"{kind}\"}}\n"
        )
    };
    cli.write(
        "notes.jsonl",
        record("Harl Mill", "mill") + &record("Toll Tower", "tower") + &record("Heron Bridge", "bridge"),
    );
    cli.json(&["index", "notes.jsonl"]);
    published(&cli, &database);
    let search = |filter: &'static str| {
        let found = cli.json(&["search", "What was built by Ada Lorne?", "--filter", filter, "--neo4j", &database.uri]);
        found["hits"].as_array().unwrap().iter().map(|hit| hit["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(search("kind=tower"), ["Toll Tower"]);
    assert_eq!(search("kind=none"), [""; 0]);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_graph_that_was_changed_by_hand_is_refused_and_breaks_nothing() {
    let Some(database) = database() else { return };
    let (_cli, _workspace) = published_harbor(&database);
    let elsewhere = Cli::new();
    let ask = ["ask", QUESTIONS[0], "--neo4j", &database.uri];
    elsewhere.json(&ask);
    for (change, undo) in [
        (
            "MATCH (e)-[r:MENTIONED_IN]->() WHERE e.bearers > 0 \
                WITH r LIMIT 1 SET r.was = r.cairnCues, r.cairnCues = ['4000000000']",
            "MATCH ()-[r:MENTIONED_IN]->() WHERE r.was IS NOT NULL SET r.cairnCues = r.was REMOVE r.was",
        ),
        (
            "MATCH (p:Passage) WITH p LIMIT 1 SET p.was = p.cairnSpans, p.cairnSpans = 'no bytes'",
            "MATCH (p:Passage) WHERE p.was IS NOT NULL SET p.cairnSpans = p.was REMOVE p.was",
        ),
        (
            "MATCH ()-[r:LEADS_TO]->() WITH r LIMIT 1 SET r.was = r.cairnIncoming, r.cairnIncoming = 'no question'",
            "MATCH ()-[r:LEADS_TO]->() WHERE r.was IS NOT NULL SET r.cairnIncoming = r.was REMOVE r.was",
        ),
    ] {
        database.rows(change);
        elsewhere.refuses(&ask, "corrupt", &["hint: republish it"]);
        database.rows(undo);
        elsewhere.json(&ask);
    }
}
