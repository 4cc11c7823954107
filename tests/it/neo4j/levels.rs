//! `layers` and `rank` from the database alone: the levels of the index, what the index finds on them, and bridges by
//! Cypher.

use std::collections::BTreeSet;
use std::sync::Arc;

use cairn::domain::{LayersEntry, LayersFound, LayersMode};
use cairn::neo4j::{DatabaseGraph, Traversal, TraversalOptions};
use cairn::query::{Filter, LayersOptions, SearchResult};
use cairn::store::{GraphReader, GraphSource as _};
use cairn::workspace::Snapshot;
use cairn::{AskOptions, Error, Performers, QueryEngine, SearchOptions, StrategyKind, Workspace};

use crate::support::neo4j::{Database, database, harbor_database};
use crate::support::{Cli, block_on};
use crate::topics::two_worlds;

use super::answering::{QUESTIONS, published_harbor};
use super::described::described;
use super::published;

/// Questions about facts, about how things relate, and about the whole.
const ASKED: [&str; 3] =
    ["How does Cornelius Pellam relate to Edda Varnholt?", "What are these documents about?", "Describe Harl Mill."];
/// Arrays that a database does not have: types of entities, the name beside which another one was merged, and what the
/// hierarchy keeps for the next version.
const LEFT_OUT: [&str; 7] = [
    "entity.type",
    "entity.type-sentence",
    "entity.beside",
    "summary.vector",
    "summary.central",
    "summary.centrality",
    "made",
];

async fn opened(database: &Database, options: TraversalOptions) -> DatabaseGraph {
    DatabaseGraph::open(&database.target(), options).await.unwrap()
}

/// Checks that levels equal those of an index, array by array.
#[track_caller]
fn assert_same_levels(held: &dyn GraphReader, kept: &Snapshot) {
    let [one, other] = [held.hierarchy(), kept.hierarchy()].map(|it| it.expect("a hierarchy").to_packed());
    let arrays = one.sections().into_iter().zip(other.sections()).filter(|it| !LEFT_OUT.contains(&it.0.0));
    for ((name, one), (_, other)) in arrays {
        assert!(one == other, "the array `{name}` differs: {} and {} bytes", one.len(), other.len());
    }
    let [one, other] = [held.resolution(), kept.resolution()].map(|it| it.expect("a resolution").to_packed());
    let arrays = one.sections().into_iter().zip(other.sections()).filter(|it| !LEFT_OUT.contains(&it.0.0));
    for ((name, one), (_, other)) in arrays {
        assert!(one == other, "the array `{name}` differs: {} and {} bytes", one.len(), other.len());
    }
    for community in kept.hierarchy().unwrap().communities() {
        let [one, other] = [held.descriptions(), kept.descriptions()].map(|descriptions| {
            let descriptions = descriptions?;
            let report = descriptions.report(community)?;
            let findings: Vec<_> = descriptions.findings(report).map(|it| (it.0.to_owned(), it.1.to_vec())).collect();
            Some((report.title.to_owned(), report.summary.to_owned(), descriptions.rating(report), findings))
        });
        assert_eq!(one, other);
    }
    for summary in kept.hierarchy().unwrap().summaries() {
        let [one, other] = [held.descriptions(), kept.descriptions()].map(|descriptions| {
            let aspects = descriptions.into_iter().flat_map(|it| it.aspects(summary));
            aspects.map(|it| format!("{it:?}")).collect::<Vec<_>>()
        });
        assert_eq!(one, other);
    }
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn levels_read_again_or_from_a_copy_are_those_of_the_index() {
    let Some(database) = database() else { return };
    let copies = tempfile::tempdir().unwrap();
    let options = TraversalOptions { cache: Some(copies.path().join("kept")), ..TraversalOptions::default() };
    for is_by_model in [false, true] {
        let cli = if is_by_model { described().0 } else { published_harbor(&database).0 };
        if is_by_model {
            database.rows("MATCH (n) DETACH DELETE n");
            published(&cli, &database);
        }
        let kept = Workspace::open(cli.folder().join(".cairn")).unwrap().snapshot().unwrap();
        block_on(async {
            let graph = opened(&database, options.clone()).await;
            assert!(graph.reader().hierarchy().is_none(), "nobody has asked for it");
            assert_same_levels(graph.with_levels().await.unwrap().as_ref(), &kept);
            let file = |it: Result<std::fs::DirEntry, std::io::Error>| it.unwrap().path();
            let files = || std::fs::read_dir(copies.path().join("kept")).unwrap().map(file);
            assert!(files().any(|it| it.extension().is_some_and(|it| it == "levels")));
            assert_same_levels(opened(&database, options.clone()).await.with_levels().await.unwrap().as_ref(), &kept);
            files().for_each(|it| std::fs::write(it, "no copy").unwrap());
            assert_same_levels(opened(&database, options.clone()).await.with_levels().await.unwrap().as_ref(), &kept);
        });
        assert_eq!(kept.descriptions().is_some_and(|it| !it.report_community.items().is_empty()), is_by_model);
        assert!(!is_by_model || kept.resolution().unwrap().merges().next().is_some());
    }
}

fn titles(found: &LayersFound) -> Vec<(String, u32, Vec<String>)> {
    found.communities.iter().map(|it| (it.title.clone(), it.hits, it.keys.clone())).collect()
}

fn levels(result: &SearchResult) -> LayersFound {
    result.ledger.layers.as_deref().cloned().expect("levels")
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn the_levels_of_the_demo_say_the_same_from_the_database_as_from_the_index() {
    let Some((database, cli)) = harbor_database() else { return };
    let workspace = Workspace::open(cli.folder().join(".cairn")).unwrap();
    block_on(async {
        let from_database = QueryEngine::open_neo4j(&database.target(), Performers::built_in()).await.unwrap();
        let from_disk = QueryEngine::open(&workspace, Performers::built_in()).unwrap();
        for question in QUESTIONS.into_iter().chain(ASKED) {
            for (mode, entry) in LayersMode::ALL
                .map(|mode| (mode, LayersEntry::Both))
                .into_iter()
                .chain([(LayersMode::Full, LayersEntry::Entities), (LayersMode::Full, LayersEntry::Passages)])
            {
                let layers = LayersOptions { mode, entry, ..LayersOptions::default() };
                let options = SearchOptions { strategy: StrategyKind::Layers, layers, ..SearchOptions::default() };
                let held = from_database.search(question, &options).await.unwrap();
                let kept = from_disk.search(question, &options).await.unwrap();
                let passages = |it: &SearchResult| it.hits.iter().map(|hit| hit.passage).collect::<Vec<_>>();
                assert_eq!(passages(&held), passages(&kept), "{mode:?}, {entry:?}: {question}");
                assert_eq!(levels(&held), levels(&kept), "{mode:?}, {entry:?}: {question}");
            }
            let options = AskOptions::default();
            let (held, kept) = (from_database.ask(question, &options).await, from_disk.ask(question, &options).await);
            let (held, kept) = (held.unwrap(), kept.unwrap());
            assert_eq!((held.strategy, held.kind, held.text), (kept.strategy, kept.kind, kept.text), "{question}");
        }
    });
}

#[test]
fn what_a_filter_leaves_out_is_in_no_level_and_leads_nowhere() {
    let Some(database) = database() else { return };
    let cli = two_worlds();
    published(&cli, &database);
    let filters = vec![Filter::parse("title!=Ada Lorne").unwrap()];
    block_on(async {
        let engine = QueryEngine::open_neo4j(&database.target(), Performers::built_in()).await.unwrap();
        let workspace = Workspace::open(cli.folder().join(".cairn")).unwrap();
        let from_disk = QueryEngine::open(&workspace, Performers::built_in()).unwrap();
        for strategy in [StrategyKind::Layers, StrategyKind::Rank] {
            let options = SearchOptions { strategy, filters: filters.clone(), ..SearchOptions::default() };
            let question = "How does Bertha Quill relate to Eaststead?";
            let held = engine.search(question, &options).await.unwrap();
            let kept = from_disk.search(question, &options).await.unwrap();
            assert!(!held.hits.is_empty() && held.hits.iter().all(|hit| hit.name != "Ada Lorne"), "{held:#?}");
            let names = |it: &SearchResult| it.hits.iter().map(|hit| hit.name.clone()).collect::<Vec<_>>();
            assert_eq!(names(&held), names(&kept), "{strategy}");
            // Scores are relative to the texts that are loaded: on disk, sentences that a filter leaves out affect
            // them, too.
            let [held, kept] = [held, kept].map(|it| it.ledger.layers.map(|it| (titles(&it), it.bridges)));
            assert_eq!(held, kept);
        }
    });
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn what_walks_all_of_a_graph_is_refused_where_neo4j_walks_it() {
    let Some((database, cli)) = harbor_database() else { return };
    block_on(async {
        let options = TraversalOptions { traversal: Traversal::Cypher, ..TraversalOptions::default() };
        let graph = Arc::new(opened(&database, options).await);
        assert!(!graph.has_communities());
        let engine = QueryEngine::over_source(graph, Performers::built_in()).unwrap();
        for strategy in [StrategyKind::Rank, StrategyKind::Layers] {
            let options = SearchOptions { strategy, ..SearchOptions::default() };
            let error = engine.search(QUESTIONS[0], &options).await.expect_err("it is not in memory");
            assert!(matches!(error, Error::WalkedByNeo4j { .. }), "{error}");
        }
        // A question about the whole is answered nevertheless.
        let answer = engine.ask(ASKED[1], &AskOptions::default()).await.unwrap();
        assert_eq!(answer.strategy, "trail");
    });
    // A single question makes the engine read the structure if nothing else can answer it.
    let elsewhere = Cli::new();
    for strategy in ["layers", "rank"] {
        let ask = ["search", QUESTIONS[0], "--strategy", strategy];
        let held = elsewhere.json(&[&ask[..], &["--neo4j", &database.uri]].concat());
        assert_eq!(held["hits"][0]["passage"], cli.json(&ask)["hits"][0]["passage"], "{strategy}");
    }
    let refused = ["search", QUESTIONS[0], "--strategy", "layers", "--traversal", "cypher", "--neo4j", &database.uri];
    elsewhere.refuses(&refused, "input", &["--traversal memory"]);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_hierarchy_that_was_changed_by_hand_is_refused_and_breaks_nothing() {
    let Some(database) = database() else { return };
    let (_cli, _workspace) = published_harbor(&database);
    let elsewhere = Cli::new();
    let ask = ["ask", ASKED[0], "--strategy", "layers", "--neo4j", &database.uri];
    elsewhere.json(&ask);
    for (change, undo) in [
        (
            "MATCH ()-[r:RELATES_TO]->() WHERE r.cairnSentence IS NOT NULL WITH r LIMIT 1 \
             SET r.was = r.cairnSentence, r.cairnSentence = 4000000000",
            "MATCH ()-[r:RELATES_TO]->() WHERE r.was IS NOT NULL SET r.cairnSentence = r.was REMOVE r.was",
        ),
        (
            "MATCH (c:Community) WITH c LIMIT 1 SET c.was = c.level, c.level = 40",
            "MATCH (c:Community) WHERE c.was IS NOT NULL SET c.level = c.was REMOVE c.was",
        ),
        (
            "MATCH (:Entity)-[r:IN_COMMUNITY]->() WITH r LIMIT 1 SET r.was = r.cairnSince, r.cairnSince = 99",
            "MATCH ()-[r:IN_COMMUNITY]->() WHERE r.was IS NOT NULL SET r.cairnSince = r.was REMOVE r.was",
        ),
        (
            "MATCH (s:Summary) WITH s LIMIT 1 SET s.was = s.cairnSentences, s.cairnSentences = [7000]",
            "MATCH (s:Summary) WHERE s.was IS NOT NULL SET s.cairnSentences = s.was REMOVE s.was",
        ),
    ] {
        database.rows(change);
        elsewhere.refuses(&ask, "corrupt", &["hint: republish it"]);
        // An engine that does not read it can answer.
        elsewhere.json(&["ask", QUESTIONS[0], "--neo4j", &database.uri]);
        database.rows(undo);
        elsewhere.json(&ask);
    }
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_version_that_is_published_meanwhile_has_levels_of_its_own() {
    let Some(database) = database() else { return };
    let (cli, workspace) = published_harbor(&database);
    block_on(async {
        let graph = Arc::new(opened(&database, TraversalOptions::default()).await);
        let engine = QueryEngine::over_source(graph.clone(), Performers::built_in()).unwrap();
        let options = SearchOptions { strategy: StrategyKind::Layers, ..SearchOptions::default() };
        assert_eq!(engine.search(ASKED[0], &options).await.unwrap().version.0, 1);
        cli.write("harbor/tower.txt", "Toll Tower\n\nToll Tower was built by Edda Varnholt and Ada Lorne in 1911.");
        cli.json(&["index", "harbor"]);
        cli.json(&["publish", "--neo4j", &database.uri]);
        let found = engine.search("How does Toll Tower relate to Edda Varnholt?", &options).await.unwrap();
        assert_eq!(found.version.0, 2);
        assert!(levels(&found).entities.iter().any(|it| it.name == "Toll Tower"), "{found:#?}");
        assert_same_levels(graph.with_levels().await.unwrap().as_ref(), &workspace.snapshot().unwrap());
    });
}

/// If a name means another entity in many documents, all of these are there, not only those that are shown.
#[test]
fn a_name_that_means_another_in_many_documents_does_so_in_each() {
    let Some(database) = database() else { return };
    let cli = Cli::new();
    for number in 0..40 {
        for name in ["Harbor Trust Union", "Halven Technical University"] {
            let text =
                format!("Letter {number}\n\nThe {name} (HTU) wrote letter {number}. The HTU sent it to Tom Reed.");
            cli.write(&format!("notes/{name} {number:02}.txt"), text);
        }
    }
    cli.json(&["index", "notes"]);
    published(&cli, &database);
    let kept = Workspace::open(cli.folder().join(".cairn")).unwrap().snapshot().unwrap();
    let scoped: BTreeSet<_> = kept.resolution().unwrap().merges().filter_map(|it| it.document).collect();
    assert!(scoped.len() > 30, "{}", scoped.len());
    // So that reading also covers summaries without sentences.
    assert!(kept.hierarchy().unwrap().summaries().any(|it| kept.hierarchy().unwrap().sentences(it).is_empty()));
    assert!(super::held(&database) == crate::support::canonical(&cli.folder().join(".cairn")));
    let held = block_on(async { opened(&database, TraversalOptions::default()).await.with_levels().await.unwrap() });
    assert_same_levels(held.as_ref(), &kept);
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_store_that_is_walked_in_the_database_has_no_levels() {
    let Some((database, _cli)) = harbor_database() else { return };
    block_on(async {
        let options = TraversalOptions { traversal: Traversal::Cypher, ..TraversalOptions::default() };
        let error = opened(&database, options).await.with_levels().await.err().expect("it is not in memory");
        assert!(matches!(error, Error::Option { .. }), "{error}");
    });
}

#[test]
fn the_link_of_an_answer_draws_bridges_and_communities() {
    let Some((database, cli)) = harbor_database() else { return };
    let ask = ["ask", ASKED[0], "--strategy", "layers"];
    let said = cli.run([&ask[..], &["--cypher", "--neo4j", &database.uri]].concat()).succeeded();
    let query = said.stdout.split_once("// The path to an answer").expect("a query").1;
    let query = query.split_once("\n\n").expect("a link").0.split_once('\n').expect("lines").1;
    let drawn = format!(
        "CALL () {{ {query} }}
        WITH *, CASE WHEN question IS NULL THEN [] ELSE relationships(question) END AS steps
        RETURN a:Community AS is_community, any(it IN steps WHERE type(it) = 'RELATES_TO') AS is_bridge,
            any(it IN steps WHERE type(it) = 'IN_COMMUNITY') AS is_member, a.name AS name, b.name AS other"
    );
    let rows = database.rows(&drawn);
    let count = |name: &str| rows.iter().filter(|row| row.get::<bool>(name).unwrap()).count();
    let found = cli.json(&ask);
    let layers = &found["ledger"]["layers"];
    let all = |name: &str| layers[name].as_array().unwrap().iter();
    let steps =
        all("bridges").flat_map(|it| it["paths"].as_array().unwrap()).map(|it| it.as_array().unwrap().len() - 1);
    assert!((1..=steps.sum()).contains(&count("is_bridge")), "{layers:#}");
    let keys: usize = all("communities").take(4).map(|it| it["keys"].as_array().unwrap().len()).sum();
    assert!(keys > 0 && count("is_member") == keys, "{} of {keys}: {layers:#}", count("is_member"));
    let titles: BTreeSet<String> =
        all("communities").take(4).map(|it| it["title"].as_str().unwrap().to_owned()).collect();
    let drawn = rows.iter().filter(|row| row.get("is_community").unwrap());
    assert_eq!(drawn.map(|row| row.get("name").unwrap()).collect::<BTreeSet<String>>(), titles);
}
