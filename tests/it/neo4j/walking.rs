//! One walk in three settings: over an index on disk, over the structure in memory, and by Cypher in the database.

use std::sync::Arc;

use cairn::domain::{Counts, IndexVersion, PassageId};
use cairn::graph::ordinal::{DocumentOrdinal, IncomingOrdinal, Ordinal as _, OutgoingOrdinal, PassageOrdinal};
use cairn::graph::packed::PassageGraph;
use cairn::neo4j::{DatabaseGraph, PublishOptions, Traversal, TraversalOptions, publish};
use cairn::query::{Reading, Reasoning};
use cairn::store::{DocumentText, GraphReader, PassageText, TextField, VectorField, Vectors};
use cairn::workspace::Snapshot;
use cairn::{AskOptions, Performers, QueryEngine, Result, SearchOptions, Sources, StrategyKind, Workspace};

use crate::support::corpus::bundles;
use crate::support::neo4j::{Database, database, harbor_database};
use crate::support::thinker::{Habit, Thinker};
use crate::support::{Cli, block_on, index, shared_data, sized};

use super::published;

/// Documents of a bundle that are published: enough for walks of every kind.
const DOCUMENTS: usize = 200;
const DOCUMENTS_OF_TORTURE: usize = 800;
/// Questions that are asked of them.
const QUESTIONS: usize = 5;
/// Questions of `--test torture`.
const QUESTIONS_OF_TORTURE: usize = 100;

/// The workspace with the entry that the database chose: only the texts of that entry are loaded.
struct SameEntry {
    kept: Arc<Snapshot>,
    held: Arc<dyn GraphReader>,
    passages: Vec<PassageOrdinal>,
    rows: Vec<u32>,
    sentence_rows: Vec<u32>,
}

impl SameEntry {
    fn new(kept: Arc<Snapshot>, held: Arc<dyn GraphReader>) -> Self {
        let passages = held.excerpt().unwrap();
        let graph = kept.graph();
        let at_hand = |passage: &PassageOrdinal| passages.binary_search(passage).is_ok();
        let rows = graph.passages().map(|it| if at_hand(&it) { it.number() } else { u32::MAX }).collect();
        let sentences = graph.sentence_passage.iter().zip(0..);
        let sentence_rows = sentences.map(|(passage, it)| if at_hand(passage) { it } else { u32::MAX }).collect();
        Self { kept, held, passages, rows, sentence_rows }
    }
}

impl GraphReader for SameEntry {
    fn version(&self) -> IndexVersion {
        self.kept.version()
    }

    fn counts(&self) -> Counts {
        self.kept.counts()
    }

    fn embedder(&self) -> &str {
        self.kept.embedder()
    }

    fn graph(&self) -> PassageGraph<'_> {
        self.kept.graph()
    }

    fn vectors(&self, field: VectorField) -> Result<Vectors<'_>> {
        Ok(match field {
            VectorField::Passage => Vectors { rows: Some(&self.rows), ..self.kept.vectors(field)? },
            VectorField::Sentence => Vectors { rows: Some(&self.sentence_rows), ..self.kept.vectors(field)? },
            VectorField::Incoming => self.held.vectors(field)?,
        })
    }

    fn postings(&self, field: TextField, term: &str, visit: &mut dyn FnMut(u32, u32)) -> Result<()> {
        let rows = if field == TextField::Passage { &self.rows } else { &self.sentence_rows };
        self.kept.postings(field, term, &mut |text, count| {
            if rows[text as usize] == text {
                visit(text, count);
            }
        })
    }

    fn frequency(&self, field: TextField, term: &str) -> Result<usize> {
        self.kept.frequency(field, term)
    }

    fn excerpt(&self) -> Option<Vec<PassageOrdinal>> {
        Some(self.passages.clone())
    }

    fn passage(&self, passage: PassageOrdinal) -> Result<PassageText> {
        self.kept.passage(passage)
    }

    fn passage_id(&self, passage: PassageOrdinal) -> PassageId {
        self.kept.passage_id(passage)
    }

    fn document(&self, document: DocumentOrdinal) -> Result<DocumentText> {
        self.kept.document(document)
    }

    fn incoming(&self, question: IncomingOrdinal) -> &str {
        self.kept.incoming(question)
    }

    fn outgoing(&self, question: OutgoingOrdinal) -> &str {
        self.kept.outgoing(question)
    }
}

async fn engine(database: &Database, traversal: Traversal) -> QueryEngine {
    let options = TraversalOptions { traversal, ..TraversalOptions::default() };
    let graph = DatabaseGraph::open(&database.target(), options).await.unwrap();
    assert_eq!(graph.traversal(), traversal);
    QueryEngine::over_source(Arc::new(graph), Performers::built_in()).unwrap()
}

/// Returns the hits and the paths to them.
async fn found(engine: &QueryEngine, question: &str, options: &SearchOptions) -> Vec<(PassageId, String, Vec<String>)> {
    let found = engine.search(question, options).await.unwrap();
    let way = |hit: &cairn::Hit| hit.path.iter().map(|step| format!("{}>{}", step.from, step.to)).collect();
    found.hits.iter().map(|hit| (hit.passage, format!("{:.4}", hit.score), way(hit))).collect()
}

/// Returns the workspace with the entry that the database chose for a question.
async fn same_entry(engine: &QueryEngine, kept: &Arc<Snapshot>, question: &str, options: &SearchOptions) -> SameEntry {
    let held = Arc::clone(&engine.query(question, options).await.unwrap().reader);
    SameEntry::new(Arc::clone(kept), held)
}

/// Questions for which a model is asked.
const REASONED: usize = 3;

/// Asks `questions` by `hop` from the same entry, with and without a model, in all three settings, and returns how many
/// answers by `trail` are the same in memory and in the database.
async fn compare(database: &Database, workspace: &Workspace, questions: &[String]) -> usize {
    let in_memory = engine(database, Traversal::Memory).await;
    let by_cypher = engine(database, Traversal::Cypher).await;
    let kept = Arc::new(workspace.snapshot().unwrap());
    assert_eq!(in_memory.corpus().await.unwrap(), by_cypher.corpus().await.unwrap());
    let mut same = 0;
    for (question, place) in questions.iter().zip(0..) {
        let options = SearchOptions { strategy: StrategyKind::Hop, top_k: 20, ..SearchOptions::default() };
        let held = found(&in_memory, question, &options).await;
        assert_eq!(held, found(&by_cypher, question, &options).await, "{question}");
        let entered = same_entry(&in_memory, &kept, question, &options).await;
        let entered = QueryEngine::over(Arc::new(entered), Performers::built_in());
        assert_eq!(held, found(&entered.unwrap(), question, &options).await, "{question}");
        let reasonings = [Reasoning::Choose, Reasoning::JudgeEdges, Reasoning::JudgeNodes];
        for reasoning in reasonings.into_iter().filter(|_| place < REASONED) {
            let options = SearchOptions { reasoning, ..options.clone() };
            let entered = QueryEngine::over(
                Arc::new(same_entry(&in_memory, &kept, question, &options).await),
                Performers::built_in(),
            );
            let mut reasoned = Vec::new();
            for engine in [&in_memory, &by_cypher, &entered.unwrap()] {
                let engine = engine.with_model(Arc::new(Thinker::new(Habit::Some, 0)));
                reasoned.push(found(&engine, question, &options).await);
            }
            assert!(reasoned.iter().all(|it| *it == reasoned[0]), "{question}, {reasoning:?}");
        }
        let options = SearchOptions { strategy: StrategyKind::Trail, ..options };
        let (held, walked) = (found(&in_memory, question, &options).await, found(&by_cypher, question, &options).await);
        let passages = |found: &[(PassageId, String, Vec<String>)]| found.iter().map(|it| it.0).collect::<Vec<_>>();
        same += usize::from(passages(&held) == passages(&walked));
    }
    same
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn three_kinds_of_traversal_of_the_demo_find_the_same() {
    let Some((database, cli)) = harbor_database() else { return };
    let workspace = Workspace::open(cli.folder().join(".cairn")).unwrap();
    let questions = super::answering::QUESTIONS.map(str::to_owned);
    assert_eq!(block_on(compare(&database, &workspace, &questions)), questions.len());
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn judging_decomposing_and_picking_find_the_same_on_disk_and_in_the_database() {
    let Some((database, cli)) = harbor_database() else { return };
    let workspace = Workspace::open(cli.folder().join(".cairn")).unwrap();
    let on_disk = QueryEngine::open(&workspace, Performers::built_in()).unwrap();
    let asked = [
        SearchOptions { reasoning: Reasoning::JudgeEdges, ..SearchOptions::default() },
        SearchOptions { decompose: Some(Reading::Model), pick: Some(20), ..SearchOptions::default() },
        SearchOptions { decompose: Some(Reading::Rule), entities: true, ..SearchOptions::default() },
    ];
    block_on(async {
        let engines = [on_disk, engine(&database, Traversal::Memory).await, engine(&database, Traversal::Cypher).await];
        for question in super::answering::QUESTIONS.into_iter().take(sized(2, usize::MAX)) {
            for options in &asked {
                let mut all = Vec::new();
                for engine in &engines {
                    let engine = engine.with_model(Arc::new(Thinker::new(Habit::Some, 0)));
                    let found = engine.search(question, options).await.unwrap();
                    let passages: Vec<PassageId> = found.hits.iter().map(|hit| hit.passage).collect();
                    all.push((passages, found.ledger.parts, found.ledger.work.unwrap().skills));
                }
                assert!(all.iter().all(|it| *it == all[0]), "{question}, {options:?}: {all:#?}");
                let mut quoted = Vec::new();
                for engine in &engines {
                    let engine = engine.with_model(Arc::new(Thinker::new(Habit::Some, 0)));
                    let options = AskOptions { search: options.clone(), ..AskOptions::default() };
                    quoted.push(engine.ask(question, &options).await.unwrap().text);
                }
                assert!(quoted.iter().all(|it| *it == quoted[0]), "{question}, {options:?}: {quoted:#?}");
            }
        }
    });
}

#[test]
fn what_does_not_fit_into_memory_is_walked_in_the_database_and_that_is_said() {
    let Some(database) = database() else { return };
    let cli = Cli::new();
    let record = |id: &str, kind: &str| {
        format!("{{\"id\":\"{id}\",\"text\":\"{id} was built by Ada Lorne.\",\"kind\":\"{kind}\"}}\n")
    };
    cli.write("notes.jsonl", record("Harl Mill", "mill") + &record("Toll Tower", "tower"));
    cli.json(&["index", "notes.jsonl"]);
    published(&cli, &database);
    let ask = ["search", "What was built by Ada Lorne?", "--filter", "kind=tower", "--neo4j", &database.uri];
    let said = cli.run([&ask[..], &["--memory", "0"]].concat()).succeeded();
    assert!(said.stderr.contains("Neo4j walks it"), "{said:#?}");
    assert!(said.stdout.contains("Toll Tower") && !said.stdout.contains("Harl Mill was"), "{said:#?}");
    let said = cli.run([&ask[..], &["--traversal", "cypher", "--strategy", "hop"]].concat()).succeeded();
    assert!(!said.stderr.contains("Neo4j walks it") && said.stdout.contains("Toll Tower"), "{said:#?}");
    cli.refuses(&[&ask[..], &["--traversal", "petgraph"]].concat(), "input", &["auto, memory, cypher"]);
    cli.refuses(&[&ask[..], &["--memory", "much"]].concat(), "input", &["number of megabytes"]);
}

mod long_tests {
    use super::*;

    #[test]
    #[ignore = "it publishes a real collection: `--test torture` runs it"]
    fn three_kinds_of_traversal_of_a_real_collection_find_the_same() {
        let Some(database) = database() else { return };
        let (Some(folder), Some(mut documents)) = (shared_data("2wiki-hippo"), bundles(&["2wiki-hippo"])) else {
            return;
        };
        documents.truncate(sized(DOCUMENTS, DOCUMENTS_OF_TORTURE));
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("index");
        index(&path, &Sources::documents(documents));
        let workspace = Workspace::open(&path).unwrap();
        block_on(async {
            publish(&workspace, &database.target(), &PublishOptions::default()).await.unwrap();
            let questions = cairn::eval::read_questions(&folder.join("questions.jsonl")).unwrap();
            let asked = sized(QUESTIONS, QUESTIONS_OF_TORTURE);
            let questions: Vec<String> = questions.into_iter().map(|it| it.question).take(asked).collect();
            let same = compare(&database, &workspace, &questions).await;
            println!("`trail` finds the same for {same} of {asked} questions");
            // If only a part of a document is loaded, another passage may represent a name.
            assert!(same * 10 >= asked * 9, "{same}");
        });
    }
}
