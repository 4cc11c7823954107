//! Far more concurrent questions than an engine handles at once: all of them are answered, first come, first served,
//! each as if it had been asked alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cairn::llm::{ChatModel, ChatRequest, Replying};
use cairn::{QueryEngine, SearchOptions, SearchResult, StrategyKind};
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use super::led::{COMPOUND, Led, QUESTION, found, indexed, options};
use crate::support::engine;

/// More than are handled concurrently.
const CROWD: usize = 200;
/// Questions that are handled concurrently, and parts of one that are looked up concurrently.
const AT_ONCE: usize = 32;
const PARTS_AT_ONCE: usize = 4;
/// How many count as first, and as last.
const ENDS: usize = 50;
/// Time limit that questions waiting for one another would exceed.
const PATIENCE: Duration = Duration::from_mins(5);

/// A slow model, so that all questions wait for it at once.
struct Slow {
    led: Arc<Led>,
    calls: AtomicUsize,
    /// The maximum number of concurrent calls.
    most: AtomicUsize,
}

impl ChatModel for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(async {
            let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
            self.most.fetch_max(calls, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.calls.fetch_sub(1, Ordering::Relaxed);
            self.led.reply(request).await
        })
    }
}

/// Returns what does not depend on other questions: the hits, and the trace of how they were found.
fn told(found: &SearchResult) -> Value {
    let mut told = json!(found);
    let ledger = told["ledger"].as_object_mut().unwrap();
    ledger.retain(|name, _| !name.ends_with("_ms"));
    told
}

/// Asks `questions` repeatedly, many at once, and checks that each is answered in time and as if alone. With strategies
/// that wait, the first ones are answered before the last ones.
fn check(engine: &QueryEngine, questions: &[&'static str], options: &SearchOptions) {
    let alone: Vec<Value> = questions.iter().map(|question| told(&found(engine, question, options))).collect();
    let asked = async {
        let mut asking = JoinSet::new();
        for (number, question) in (0..CROWD).zip(questions.iter().copied().cycle()) {
            let (engine, options) = (engine.clone(), options.clone());
            asking.spawn(async move { (number, engine.search(question, &options).await.unwrap()) });
        }
        let mut ended = Vec::new();
        let all = async {
            while let Some(found) = asking.join_next().await {
                let (number, found) = found.unwrap();
                assert_eq!(told(&found), alone[number % alone.len()], "{number}");
                ended.push(number);
            }
        };
        // Counts those that were answered, in case time runs out.
        let _ended = tokio::time::timeout(PATIENCE, all).await;
        ended
    };
    // On one thread: several threads start spawned tasks in any order.
    let ended = Builder::new_current_thread().enable_all().build().unwrap().block_on(asked);
    assert_eq!(ended.len(), CROWD, "{}", options.strategy);
    let last_of_first = ended.iter().rposition(|number| *number < ENDS);
    let first_of_last = ended.iter().position(|number| *number >= CROWD - ENDS);
    assert!(last_of_first < first_of_last, "{}: {ended:?}", options.strategy);
}

#[test]
fn any_number_of_led_questions_at_once_is_answered() {
    let cli = indexed();
    let slow = Arc::new(Slow { led: Led::well(), calls: AtomicUsize::default(), most: AtomicUsize::default() });
    let engine = engine(&cli.folder().join(".cairn")).with_model(slow.clone());
    for strategy in [StrategyKind::Level, StrategyKind::Dual, StrategyKind::Noise] {
        check(&engine, &[QUESTION, COMPOUND], &options(strategy));
    }
    let most = slow.most.load(Ordering::Relaxed);
    assert!((AT_ONCE..=AT_ONCE * PARTS_AT_ONCE).contains(&most), "{most}");
}

#[test]
fn any_number_of_compound_questions_at_once_is_answered_without_a_model() {
    let cli = indexed();
    check(&engine(&cli.folder().join(".cairn")), &[COMPOUND], &options(StrategyKind::Noise));
}
