//! Questions whose connections are cut or delayed, or that are dropped, at every moment: the result is the answer or a
//! typed error, and the next question gets the right answer.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use cairn::llm::{ChatModel, ChatRequest, Replying};
use cairn::neo4j::{PublishOptions, Target, publish};
use cairn::query::Reasoning;
use cairn::{
    Answer, AskOptions, Document, Error, ErrorKind, Performers, QueryEngine, Result, SearchOptions, Sources,
    StrategyKind, Workspace,
};
use tokio::time::{sleep, timeout};

use crate::support::bolt::{Cut, Proxy};
use crate::support::neo4j::{Database, database, harbor_database};
use crate::support::thinker::{Habit, Thinker};
use crate::support::{block_on, index, sized};

use super::answering::QUESTIONS;

const QUESTION: &str = "Where was the builder of Harl Mill born?";
/// The deadline of a question in these tests, meant to be too short.
const DEADLINE: Duration = Duration::from_millis(500);
/// How much later the error may come: far less than anything else waits.
const LATE_MAX: Duration = Duration::from_secs(5);
/// Time limit for anything that must not wait forever.
const PATIENCE: Duration = Duration::from_mins(1);

/// Publishes a few documents that name the edition: a small index, which is opened and asked in few messages.
fn publish_edition(path: &Path, database: &Database, edition: usize) {
    publish_edition_to(path, &database.uri, edition);
}

fn publish_edition_to(path: &Path, uri: &str, edition: usize) {
    let text = format!("Harl Mill was built by Ada Lorne in {}.", 1800 + edition);
    let born = "Ada Lorne was born in Eaststead. Eaststead lies by the river.";
    index(
        path,
        &Sources::documents([
            Document::new("mill", Some("Harl Mill".to_owned()), text),
            Document::new("ada", Some("Ada Lorne".to_owned()), born),
        ]),
    );
    let workspace = Workspace::open(path).unwrap();
    block_on(publish(&workspace, &Target::parse(uri).unwrap(), &PublishOptions::default())).unwrap();
}

pub(super) async fn open(uri: &str) -> QueryEngine {
    QueryEngine::open_neo4j(&Target::parse(uri).unwrap(), Performers::built_in()).await.unwrap()
}

/// Returns everything about an answer: equal values have the same sentences, passages and steps, from the same version.
pub(super) async fn told(engine: &QueryEngine, question: &str, deadline: Option<Duration>) -> Result<Answer> {
    told_by(engine, StrategyKind::Auto, question, deadline).await
}

/// Strategies that read the database differently: the texts of one excerpt, names of all, and the hierarchy and more
/// texts.
const STRATEGIES: [StrategyKind; 3] = [StrategyKind::Auto, StrategyKind::Rank, StrategyKind::Layers];

/// As [`told`], with a strategy.
async fn told_by(
    engine: &QueryEngine,
    strategy: StrategyKind,
    question: &str,
    deadline: Option<Duration>,
) -> Result<Answer> {
    let search = SearchOptions { strategy, deadline, ..SearchOptions::default() };
    engine.ask(question, &AskOptions { search, ..AskOptions::default() }).await
}

/// Waits until a condition holds.
async fn until(is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, waiting).await.expect("it comes to be so");
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_connection_that_is_cut_at_any_message_of_a_question_changes_no_answer() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    publish_edition(&folder.path().join("index"), &database, 1);
    block_on(async {
        for strategy in STRATEGIES {
            cut_at_any_message(&database, strategy).await;
        }
    });
}

async fn cut_at_any_message(database: &Database, strategy: StrategyKind) {
    let proxy = Proxy::start_whole(&database.uri);
    let kept = open(&proxy.uri).await;
    let expected = told_by(&kept, strategy, QUESTION, None).await.unwrap();
    // In steps that cover every kind of message, cut before and after.
    for number in (0..).step_by(sized(5, 1)) {
        let cut = if number % 2 == 0 { Cut::Before } else { Cut::After };
        // Only a new engine still has to fetch the texts, in four messages, and the hierarchy.
        let is_new = number % 3 == 0;
        let engine = if is_new { open(&proxy.uri).await } else { kept.clone() };
        let before = proxy.seen();
        proxy.after(number, cut);
        let context = || format!("{strategy}, {cut:?} {number}");
        match told_by(&engine, strategy, QUESTION, None).await {
            Ok(answer) => assert_eq!(answer, expected, "{}", context()),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable, "{}: {error}", context()),
        }
        let is_past = is_new && proxy.seen() - before <= number;
        proxy.release();
        let next = told_by(&engine, strategy, QUESTION, None).await.unwrap();
        assert_eq!(next, expected, "after {}", context());
        if is_past {
            assert!(number > 20, "a question has only {number} messages");
            break;
        }
    }
}

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn a_server_that_falls_silent_at_any_message_is_waited_for_no_longer_than_the_deadline() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    publish_edition(&folder.path().join("index"), &database, 1);
    block_on(async {
        let mut actions = std::collections::BTreeSet::new();
        for strategy in STRATEGIES {
            actions.extend(silent_at_any_message(&database, strategy).await);
        }
        // On a slow machine, time may also run out between two messages, while passages are ranked.
        for action in ["fetching what the question needs", "reading which version is current"] {
            assert!(actions.contains(action), "{actions:?}");
        }
    });
}

/// Returns what a question with a strategy was doing when time ran out.
async fn silent_at_any_message(database: &Database, strategy: StrategyKind) -> Vec<&'static str> {
    let expected = told_by(&open(&database.uri).await, strategy, QUESTION, None).await.unwrap();
    let mut actions = Vec::new();
    for number in (0..).step_by(sized(if strategy == StrategyKind::Auto { 4 } else { 12 }, 4)) {
        let proxy = Proxy::start_whole(&database.uri);
        let engine = open(&proxy.uri).await;
        let before = proxy.seen();
        proxy.after(number, Cut::Held);
        let began = Instant::now();
        let told_in_time = told_by(&engine, strategy, QUESTION, Some(DEADLINE)).await;
        assert!(began.elapsed() < DEADLINE + LATE_MAX, "{number}: {:?}", began.elapsed());
        let is_past = proxy.seen() - before <= number;
        proxy.release();
        let next = told_by(&engine, strategy, QUESTION, None).await.unwrap();
        assert_eq!(next, expected, "{strategy}, after {number}");
        match told_in_time {
            Err(Error::Deadline { action, .. }) => actions.push(action),
            Ok(answer) => {
                assert_eq!(answer, expected, "{strategy}, {number}");
                break;
            }
            Err(error) => panic!("{strategy}, {number}: {error}"),
        }
        if is_past {
            break;
        }
    }
    actions
}

/// If a question is dropped while the structure of a new version is read, reading continues to the end: otherwise, no
/// question with a short deadline would ever be answered again.
#[test]
fn a_new_version_is_read_to_its_end_though_the_question_is_given_up() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    publish_edition(&path, &database, 1);
    let proxy = Proxy::start_whole(&database.uri);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let engine = runtime.block_on(open(&proxy.uri));
    publish_edition(&path, &database, 2);
    runtime.block_on(async {
        // Twice the version, and then well into the structure.
        let last = proxy.seen() + 30;
        proxy.after(30, Cut::Held);
        let asking = told(&engine, QUESTION, None);
        tokio::select! {
            answer = asking => panic!("it is held up: {answer:?}"),
            () = until(|| proxy.seen() > last) => {}
        }
        assert_eq!(engine.version().0, 1);
        proxy.release();
        until(|| engine.version().0 == 2).await;
        let answer = told(&engine, "When was Harl Mill built?", None).await.unwrap();
        assert!(answer.text.contains("1802"), "{answer:?}");
    });
}

/// A model that runs something during its first request.
struct Interrupted {
    thinker: Thinker,
    meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl ChatModel for Interrupted {
    fn name(&self) -> &str {
        self.thinker.name()
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        let meanwhile = self.meanwhile.lock().unwrap().take();
        Box::pin(async move {
            if let Some(meanwhile) = meanwhile {
                tokio::task::spawn_blocking(meanwhile).await.unwrap();
            }
            self.thinker.reply(request).await
        })
    }
}

#[test]
fn a_model_that_leads_a_walk_is_not_asked_again_because_of_a_version_that_is_published_meanwhile() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    publish_edition(&path, &database, 1);
    let uri = database.uri.clone();
    let publish_next = move || publish_edition_to(&path, &uri, 2);
    let options =
        SearchOptions { strategy: StrategyKind::Hop, reasoning: Reasoning::Choose, ..SearchOptions::default() };
    block_on(async {
        let engine = open(&database.uri).await;
        let asked = |meanwhile| Interrupted { thinker: Thinker::new(Habit::Some, 0), meanwhile: Mutex::new(meanwhile) };
        let [calm, interrupted] = [None, Some(Box::new(publish_next) as Box<dyn FnOnce() + Send>)].map(asked);
        let [calm, interrupted] = [Arc::new(calm), Arc::new(interrupted)];
        let led = |model: &Arc<Interrupted>| engine.with_model(Arc::clone(model) as Arc<dyn ChatModel>);
        let expected = led(&calm).search(QUESTION, &options).await.unwrap();
        assert!(calm.thinker.calls() > 0);
        let found = led(&interrupted).search(QUESTION, &options).await.unwrap();
        assert_eq!((found.hits, found.version), (expected.hits, expected.version));
        assert_eq!(interrupted.thinker.calls(), calm.thinker.calls());
        let next = led(&calm).search(QUESTION, &options).await.unwrap();
        assert!(next.version > expected.version);
    });
}

#[test]
fn questions_that_are_dropped_at_any_moment_leave_the_next_one_right() {
    let dropped = sized(10, 200);
    let Some((database, _cli)) = harbor_database() else { return };
    block_on(async {
        let engine = open(&database.uri).await;
        for strategy in STRATEGIES {
            let asked = async |at: usize| told_by(&engine, strategy, QUESTIONS[at], None).await;
            let mut expected = Vec::new();
            for at in 0..QUESTIONS.len() {
                expected.push(asked(at).await.unwrap());
            }
            let began = Instant::now();
            assert_eq!(asked(0).await.unwrap(), expected[0]);
            let usual = began.elapsed();
            for number in 0..dropped {
                let at = number as usize % QUESTIONS.len();
                // The moment itself is tested: there is nothing to wait for.
                let moment = usual * number / dropped;
                if let Ok(answer) = timeout(moment, asked(at)).await {
                    assert_eq!(answer.unwrap(), expected[at], "{strategy}, {number}");
                }
                if number % 5 == 0 {
                    let next = (at + 1) % QUESTIONS.len();
                    assert_eq!(asked(next).await.unwrap(), expected[next], "{strategy}, after {number}");
                }
            }
        }
    });
}

/// The same applies to the hierarchy, which is read for the first question that needs it.
#[test]
fn a_hierarchy_is_read_to_its_end_though_the_question_is_given_up() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    publish_edition(&folder.path().join("index"), &database, 1);
    block_on(async {
        let proxy = Proxy::start_whole(&database.uri);
        let engine = open(&proxy.uri).await;
        let layers = async |deadline| told_by(&engine, StrategyKind::Layers, QUESTION, deadline).await;
        // Well into it, after the messages that give the current version.
        let last = proxy.seen() + 20;
        proxy.after(20, Cut::Held);
        let asking = layers(None);
        tokio::select! {
            answer = asking => panic!("it is held up: {answer:?}"),
            () = until(|| proxy.seen() > last) => {}
        }
        proxy.release();
        let answer = layers(None).await.unwrap();
        assert!(answer.ledger.layers.is_some(), "{answer:?}");
        // Nothing is read again: the next question takes as few messages as one that does not need the hierarchy.
        let before = proxy.seen();
        layers(None).await.unwrap();
        let few = proxy.seen() - before;
        let fresh = open(&proxy.uri).await;
        let before = proxy.seen();
        told_by(&fresh, StrategyKind::Layers, QUESTION, None).await.unwrap();
        assert!(few < proxy.seen() - before, "{few} messages");
    });
}
