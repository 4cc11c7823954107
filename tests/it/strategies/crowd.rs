//! More questions at one time than an engine works on: all of them are answered, whoever waits for whom.

use std::sync::Arc;
use std::time::Duration;

use cairn::llm::{ChatModel, ChatRequest, Replying};
use cairn::{QueryEngine, SearchOptions, StrategyKind};
use tokio::task::JoinSet;

use super::led::{COMPOUND, Led, QUESTION, indexed, options};
use crate::support::{block_on, engine};

/// More than are worked on at one time.
const CROWD: usize = 40;
/// What a crowd that waits for itself never ends within.
const PATIENCE: Duration = Duration::from_mins(1);

/// A model that takes its time, so that everybody waits for it at once.
struct Slow(Arc<Led>);

impl ChatModel for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            self.0.reply(request).await
        })
    }
}

/// Asks a question many times at once; returns how many were answered in time.
fn answered(engine: &QueryEngine, question: &'static str, options: &SearchOptions) -> usize {
    let asked = async {
        let mut asking = JoinSet::new();
        for _ in 0..CROWD {
            let (engine, options) = (engine.clone(), options.clone());
            asking.spawn(async move { engine.search(question, &options).await.unwrap() });
        }
        let mut count = 0;
        let all = async {
            while let Some(found) = asking.join_next().await {
                assert!(!found.unwrap().hits.is_empty());
                count += 1;
            }
        };
        // How many were, where it is too long for all.
        let _ended = tokio::time::timeout(PATIENCE, all).await;
        count
    };
    block_on(asked)
}

#[test]
fn any_number_of_led_questions_at_once_is_answered() {
    let cli = indexed();
    let engine = engine(&cli.folder().join(".cairn")).with_model(Arc::new(Slow(Led::well())));
    for strategy in [StrategyKind::Level, StrategyKind::Dual, StrategyKind::Noise] {
        assert_eq!(answered(&engine, QUESTION, &options(strategy)), CROWD, "{strategy}");
    }
}

#[test]
fn any_number_of_compound_questions_at_once_is_answered_without_a_model() {
    let cli = indexed();
    let engine = engine(&cli.folder().join(".cairn"));
    assert_eq!(answered(&engine, COMPOUND, &options(StrategyKind::Noise)), CROWD);
}
