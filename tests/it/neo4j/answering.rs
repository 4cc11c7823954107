//! Answering from the database alone: the same structure as on disk, and the same answers.

use cairn::neo4j::DatabaseGraph;
use cairn::store::{GraphReader as _, GraphSource as _, TextField};
use cairn::{AskOptions, Performers, QueryEngine, SearchOptions, StrategyKind, Workspace};

use crate::support::neo4j::{Database, database};
use crate::support::{Cli, block_on};

use super::{published, write_harbor};

/// Questions of the demo collection, of one hop and more.
const QUESTIONS: [&str; 4] = [
    "Who taught the engineer of Heron Bridge?",
    "When was Heron Bridge opened?",
    "In which town was the founder of Harl Mill born?",
    "Who designed the bridge near the mill?",
];

fn published_harbor(database: &Database) -> (Cli, Workspace) {
    let cli = Cli::new();
    write_harbor(&cli);
    cli.json(&["index", "harbor"]);
    published(&cli, database);
    let workspace = Workspace::open(cli.folder().join(".cairn")).unwrap();
    (cli, workspace)
}

#[test]
fn the_structure_in_memory_is_that_of_the_index() {
    let Some(database) = database() else { return };
    let (_cli, workspace) = published_harbor(&database);
    let graph = block_on(DatabaseGraph::open(&database.target())).unwrap();
    let (held, kept) = (graph.reader(), workspace.snapshot().unwrap());
    for ((name, held), (_, kept)) in held.graph().sections().into_iter().zip(kept.graph().sections()) {
        assert!(held == kept, "the array `{name}` differs: {} and {} bytes", held.len(), kept.len());
    }
    assert_eq!(held.counts(), kept.counts());
    assert_eq!(held.embedder(), kept.embedder());
    for passage in 0..kept.passage_count() {
        assert_eq!(held.passage_id(passage), kept.passage_id(passage));
    }
    for document in 0..kept.document_count() {
        assert_eq!(held.document(document).unwrap(), kept.document(document).unwrap());
    }
    let counts = kept.counts();
    assert!((0..counts.incoming as u32).all(|question| held.incoming(question) == kept.incoming(question)));
    assert!((0..counts.outgoing as u32).all(|question| held.outgoing(question) == kept.outgoing(question)));
    kept.each_term(&mut |term, passages, sentences| {
        assert_eq!(held.frequency(TextField::Passage, term).unwrap(), passages as usize, "{term}");
        assert_eq!(held.frequency(TextField::Sentence, term).unwrap(), sentences as usize, "{term}");
    })
    .unwrap();
}

#[test]
fn every_strategy_finds_what_it_finds_in_the_index() {
    let Some(database) = database() else { return };
    let (_cli, workspace) = published_harbor(&database);
    block_on(async {
        let from_database = QueryEngine::open_neo4j(&database.target(), Performers::built_in()).await.unwrap();
        let from_disk = QueryEngine::open(&workspace, Performers::built_in()).unwrap();
        for question in QUESTIONS {
            for strategy in ["lexical", "dense", "hybrid", "hop", "trail"] {
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
