//! User-defined strategies on a session: each shows what a new strategy takes, a file with its loop.

mod auto;
mod compound;
mod crowd;
pub(crate) mod led;
mod planned;
mod training;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cairn::domain::{Counts, IndexVersion, PassageId, StopReason, Usage};
use cairn::graph::ordinal::{DocumentOrdinal, IncomingOrdinal, OutgoingOrdinal, PassageOrdinal};
use cairn::graph::packed::PassageGraph;
use cairn::llm::{ChatModel, ChatReply, ChatRequest, Finish, ReplyForm, ReplyOrigin, Replying};
use cairn::query::{Finding, Found, Pipeline, Questions, Session, Strategy, retriever};
use cairn::store::{DocumentText, GraphReader, PassageText, TextField, VectorField, Vectors};
use cairn::{AskOptions, Error, Hit, Performers, QueryEngine, Result, SearchOptions, StrategyKind, Workspace};
use serde_json::json;
use tokio::sync::Barrier;

use crate::support::{Cli, block_on, engine};
use compound::Compound;

const QUESTION: &str = "Who built Harl Mill and who built Pale Weir?";

fn indexed() -> Cli {
    let cli = Cli::new();
    cli.write("notes/mill.txt", "Harl Mill\n\nHarl Mill was built by Ada Lorne. It closed after a fire in 1860.");
    cli.write("notes/weir.txt", "Pale Weir\n\nPale Weir was built by Tom Reed. It burned down in 1850.");
    cli.write("notes/river.txt", "Ashlin\n\nThe Ashlin is a river with a mill and a weir.");
    cli.run(["index", "notes"]).succeeded();
    cli
}

/// A model that divides the question into two, finds the first passage needed and reads its first name. It judges only
/// when `beside` calls wait for it at the same time.
struct Pair {
    beside: Barrier,
    calls: AtomicUsize,
}

impl Pair {
    fn new(beside: usize) -> Arc<Self> {
        Arc::new(Self { beside: Barrier::new(beside), calls: AtomicUsize::new(0) })
    }
}

impl ChatModel for Pair {
    fn name(&self) -> &'static str {
        "pair"
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            let ReplyForm::Json { name, .. } = &request.form else { panic!("no skill") };
            let said = &request.messages[1].text;
            let text = match *name {
                "decompose" => json!({ "parts": ["Who built Harl Mill?", "Who built Pale Weir?"] }),
                "judge" => {
                    self.beside.wait().await;
                    json!({ "necessary": [1], "related": [] })
                }
                "read" if said.contains("Ada Lorne") => json!({ "answers": [{ "text": "Ada Lorne", "passage": 1 }] }),
                "read" => json!({ "answers": [{ "text": "Tom Reed", "passage": 1 }] }),
                // It writes nothing, so sentences are quoted.
                _ => json!({}),
            };
            let (text, usage, model) = (text.to_string(), Usage::default(), self.name().to_owned());
            Ok(ChatReply {
                text,
                finish: Finish::Stop,
                usage,
                model,
                origin: ReplyOrigin::Server,
                calls: 1,
                cost: None,
            })
        })
    }
}

#[test]
fn parts_of_a_compound_question_are_answered_side_by_side() {
    let cli = indexed();
    let model = Pair::new(2);
    let engine = engine(&cli.folder().join(".cairn")).with_model(model.clone());
    let options = SearchOptions { deadline: Some(Duration::from_mins(1)), ..SearchOptions::default() };
    let found = block_on(engine.search_with(QUESTION, &Compound::default(), &options)).unwrap();
    assert_eq!(found.strategy, "compound");
    let parts: Vec<&str> = found.ledger.parts.iter().map(|part| part.answers[0].text.as_str()).collect();
    assert_eq!(parts, ["Ada Lorne", "Tom Reed"], "in the order of the question, whoever is faster");
    assert_eq!(found.hits[..2].iter().map(|hit| hit.name.as_str()).collect::<Vec<_>>(), ["Harl Mill", "Pale Weir"]);
    assert!(found.hits.iter().zip(1..).all(|(hit, rank)| hit.rank == rank));
    let work = found.ledger.work.unwrap();
    assert_eq!((work.skills["judge"].asked, work.skills["read"].asked, work.stop), (2, 2, StopReason::Finished));
    // Its passages are quoted like those of any other strategy.
    let answer = block_on(engine.ask_with(QUESTION, &Compound::default(), &AskOptions::default())).unwrap();
    assert!(answer.text.contains("Ada Lorne") && answer.text.contains("Tom Reed"), "{}", answer.text);
}

#[test]
fn a_strategy_ends_within_its_calls_and_its_time() {
    let cli = indexed();
    let engine = engine(&cli.folder().join(".cairn"));
    // One after the other if calls are counted: no judge waits for another one.
    for (calls_max, asked) in [(0, 0), (1, 1), (3, 3), (9, 5)] {
        let model = Pair::new(1);
        let options = SearchOptions { calls_max: Some(calls_max), ..SearchOptions::default() };
        let engine = engine.with_model(model.clone());
        let found = block_on(engine.search_with(QUESTION, &Compound::default(), &options)).unwrap();
        assert_eq!(model.calls.load(Ordering::SeqCst), asked, "{calls_max}");
        assert_eq!(found.hits.len(), 3, "what the whole question finds is always there");
        let stop = found.ledger.work.unwrap().stop;
        assert_eq!(stop, if calls_max == 9 { StopReason::Finished } else { StopReason::Calls }, "{calls_max}");
    }
    // A judge that waits for one call more than there are.
    let options = SearchOptions { deadline: Some(Duration::from_millis(300)), ..SearchOptions::default() };
    let slow = engine.with_model(Pair::new(3));
    let found = block_on(slow.search_with(QUESTION, &Compound::default(), &options));
    match found {
        Ok(found) => assert_eq!(found.ledger.work.unwrap().stop, StopReason::Deadline),
        Err(error) => assert!(matches!(error, Error::Deadline { .. }), "{error}"),
    }
}

/// Asks sub-questions of sub-questions without end.
struct Endless;

impl Strategy for Endless {
    fn name(&self) -> &'static str {
        "endless"
    }

    fn find<'a>(&'a self, session: &'a Session) -> Finding<'a> {
        Box::pin(async move { session.ask(session.question(), self).await })
    }
}

#[test]
fn sub_questions_end_somewhere() {
    let cli = indexed();
    let engine = engine(&cli.folder().join(".cairn"));
    let found = block_on(engine.search_with(QUESTION, &Endless, &SearchOptions::default()));
    let error = found.expect_err("it has no end");
    assert!(error.to_string().contains("3 deep at most"), "{error}");
}

#[test]
fn a_passage_is_found_by_the_question_that_it_answers() {
    let cli = indexed();
    let by_questions = Pipeline::plain(Arc::new(Questions));
    let engine = engine(&cli.folder().join(".cairn"));
    let found = block_on(engine.search_with("Who built Pale Weir?", &by_questions, &SearchOptions::default())).unwrap();
    assert_eq!((found.hits[0].name.as_str(), found.ledger.entry[0].by.as_str()), ("Pale Weir", "question"));
}

/// A store that counts reads of sentences and of vectors.
struct Counting {
    inner: Arc<dyn GraphReader>,
    sentences: AtomicUsize,
    vectors: AtomicUsize,
}

impl GraphReader for Counting {
    fn version(&self) -> IndexVersion {
        self.inner.version()
    }

    fn counts(&self) -> Counts {
        self.inner.counts()
    }

    fn embedder(&self) -> &str {
        self.inner.embedder()
    }

    fn graph(&self) -> PassageGraph<'_> {
        self.inner.graph()
    }

    fn vectors(&self, field: VectorField) -> Result<Vectors<'_>> {
        self.vectors.fetch_add(1, Ordering::SeqCst);
        self.inner.vectors(field)
    }

    fn postings(&self, field: TextField, term: &str, visit: &mut dyn FnMut(u32, u32)) -> Result<()> {
        self.sentences.fetch_add(usize::from(field == TextField::Sentence), Ordering::SeqCst);
        self.inner.postings(field, term, visit)
    }

    fn frequency(&self, field: TextField, term: &str) -> Result<usize> {
        self.inner.frequency(field, term)
    }

    fn passage(&self, passage: PassageOrdinal) -> Result<PassageText> {
        self.inner.passage(passage)
    }

    fn passage_id(&self, passage: PassageOrdinal) -> PassageId {
        self.inner.passage_id(passage)
    }

    fn document(&self, document: DocumentOrdinal) -> Result<DocumentText> {
        self.inner.document(document)
    }

    fn incoming(&self, question: IncomingOrdinal) -> &str {
        self.inner.incoming(question)
    }

    fn outgoing(&self, question: OutgoingOrdinal) -> &str {
        self.inner.outgoing(question)
    }
}

#[test]
fn a_search_computes_no_more_evidence_than_its_retriever_asks_for() {
    let cli = indexed();
    let snapshot = Workspace::open(cli.folder().join(".cairn")).unwrap().snapshot().unwrap();
    let inner: Arc<dyn GraphReader> = Arc::new(snapshot);
    for (kind, reads_sentences, vectors) in [
        (StrategyKind::Lexical, false, 0),
        (StrategyKind::Dense, false, 1),
        (StrategyKind::Hybrid, false, 1),
        (StrategyKind::Hop, false, 2),
    ] {
        let (sentences, own) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let counting = Arc::new(Counting { inner: Arc::clone(&inner), sentences, vectors: own });
        let engine = QueryEngine::over(counting.clone(), Performers::built_in()).unwrap();
        let options = SearchOptions { strategy: kind, ..SearchOptions::default() };
        block_on(engine.search(QUESTION, &options)).unwrap();
        assert_eq!(counting.sentences.load(Ordering::SeqCst) > 0, reads_sentences, "{kind}");
        assert_eq!(counting.vectors.load(Ordering::SeqCst), vectors, "{kind}");
    }
}

/// Returns the strategies that retrieve once, without a loop of their own.
fn retrieving() -> impl Iterator<Item = StrategyKind> {
    StrategyKind::ALL.into_iter().filter(|kind| !kind.uses_model())
}

/// Runs every retriever for one question, one after the other.
#[derive(Default)]
struct Several(Mutex<Vec<Vec<Hit>>>);

impl Strategy for Several {
    fn name(&self) -> &'static str {
        "several"
    }

    fn find<'a>(&'a self, session: &'a Session) -> Finding<'a> {
        Box::pin(async move {
            for kind in retrieving() {
                let retriever = retriever(kind, &SearchOptions::default());
                let found = Found::of(session.retrieve(retriever.as_ref(), session.top_k()).await?).await?;
                self.0.lock().unwrap().push(found.hits);
            }
            Found::of(session.retrieve(&Questions, session.top_k()).await?).await
        })
    }
}

#[test]
fn one_question_is_put_to_every_retriever_by_its_name() {
    let cli = indexed();
    let engine = engine(&cli.folder().join(".cairn"));
    let several = Several::default();
    block_on(engine.search_with(QUESTION, &several, &SearchOptions::default())).unwrap();
    for (strategy, found) in retrieving().zip(several.0.into_inner().unwrap()) {
        let options = SearchOptions { strategy, ..SearchOptions::default() };
        assert_eq!(block_on(engine.search(QUESTION, &options)).unwrap().hits, found, "{strategy}");
    }
}
