//! Runs one method of a matrix, with one leader, on the questions of one collection.

use std::sync::Arc;
use std::time::Instant;

use super::{MatrixMethod, MatrixRow};
use crate::domain::{Answer, Ledger, Spent, StopReason, Writing};
use crate::error::{Error, Result};
use crate::eval::answers::answered_by;
use crate::eval::bootstrap::Interval;
use crate::eval::exact::answer_scores;
use crate::eval::fit::Collection;
use crate::eval::metrics::scores;
use crate::eval::questions::Question;
use crate::eval::report::{Facts, Scored, percent, score};
use crate::eval::retrieval::{PASSAGES_FIRST, found, ranked};
use crate::eval::stand_in::StandIn;
use crate::eval::work::WorkReport;
use crate::llm::ChatModel;
use crate::query::{AskOptions, QueryEngine, SearchOptions};

/// The position of depth 5 in [`crate::eval::DEPTHS`].
const SLOT_OF_5: usize = 2;

/// A real model that leads methods.
#[derive(Clone)]
pub struct LiveModel {
    /// The model.
    pub model: Arc<dyn ChatModel>,
    /// Whether what it says is taken from a recording.
    pub is_replayed: bool,
}

impl std::fmt::Debug for LiveModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveModel").field("model", &self.model.name()).finish_non_exhaustive()
    }
}

/// The leader of a method.
#[derive(Debug, Clone)]
pub(super) enum Leader {
    /// None: rules only.
    Nobody,
    /// A simulated model.
    StandIn(Box<StandIn>),
    /// A real model.
    Live(LiveModel),
}

impl Leader {
    /// Returns its name in a report.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Nobody => super::NO_MODEL.to_owned(),
            Self::StandIn(it) => it.accuracy.map_or_else(|| "recorded".to_owned(), |it| format!("simulated:{it}")),
            Self::Live(LiveModel { model, is_replayed: true }) => format!("replayed:{}", model.name()),
            Self::Live(LiveModel { model, is_replayed: false }) => format!("live:{}", model.name()),
        }
    }

    fn engine(&self, engine: &QueryEngine, question: &Question) -> QueryEngine {
        match self {
            Self::Nobody => engine.clone(),
            Self::StandIn(stand_in) => engine.with_model(stand_in.model(question, engine)),
            Self::Live(live) => engine.with_model(Arc::clone(&live.model)),
        }
    }
}

/// The results of a method on the questions of a collection.
pub(super) struct Run {
    /// Its row, before it is compared with others.
    pub(super) row: MatrixRow,
    /// Recall at 5 of each question, in their order.
    pub(super) recalls: Vec<f64>,
    /// What was read.
    pub(super) facts: Facts,
    /// For how many questions the model could not be asked everything, and why not the last time.
    pub(super) ended_early: Option<(u64, String)>,
}

/// The results of one question.
struct Asked {
    ranked: Vec<String>,
    time_ms: f64,
    ledger: Ledger,
    writing: Option<Writing>,
    /// The answer that is scored, if the question has answers to compare with.
    answer: Option<String>,
}

/// Puts the questions of a collection to a method.
///
/// # Errors
///
/// The first error of the engine; [`Error::Option`] if the index got a new version meanwhile.
///
/// # Cancel safety
///
/// Dropping the future loses the measurement and nothing else.
pub(super) async fn run(collection: &Collection, method: &MatrixMethod, leader: &Leader) -> Result<Run> {
    let Collection { engine, questions, .. } = collection;
    let is_led = !matches!(leader, Leader::Nobody);
    // Calls are counted only with a model.
    let search = SearchOptions { calls_max: method.search.calls_max.filter(|_| is_led), ..method.search.clone() };
    let facts = Facts::of(engine, &search).await?;
    let (mut scored, mut answers, mut recalls) = (Vec::new(), Vec::new(), Vec::new());
    let (mut work, mut early, mut steps) = (WorkReport::default(), None, None);
    for question in questions {
        let Asked { ranked, time_ms, ledger, writing, answer } = asked(engine, question, &search, leader).await?;
        work.add(&ledger, writing.as_ref());
        if let Some(plan) = ledger.plan.as_ref().filter(|_| is_led) {
            *steps.get_or_insert(0) += plan.rounds;
        }
        if let Some(why) = end_of(&ledger, writing.as_ref(), leader) {
            early = Some((early.map_or(0, |(count, _)| count) + 1, why));
        }
        recalls.push(scores(&ranked, &question.supporting).recall[SLOT_OF_5]);
        answers.extend(answer.map(|answer| answer_scores(&answer, &question.answers)));
        scored.push(Scored { question, ranked, time_ms });
    }
    if engine.version() != facts.version {
        let reason = "another version of the index was published meanwhile".to_owned();
        return Err(Error::Option { option: "matrix", value: collection.name.clone(), reason });
    }
    let report = score(&scored, facts);
    let metric = |name| report.metrics.get(name).unwrap_or_default();
    let of_answers = |figures: Vec<f64>| (!figures.is_empty()).then(|| percent(figures));
    let row = MatrixRow {
        method: method.name.clone(),
        led_by: leader.label(),
        recall_at_2: metric("recall@2"),
        recall_at_5: metric("recall@5"),
        all_gold_at_5: metric("all-gold@5"),
        difference: None,
        exact_match: of_answers(answers.iter().map(|it| it.exact).collect()),
        answer_f1: of_answers(answers.iter().map(|it| it.f1).collect()),
        calls: work.calls_per_question,
        steps: steps.map(|steps| f64::from(steps) / questions.len().max(1) as f64),
        tokens: work.spent.usage.tokens() as f64 / questions.len().max(1) as f64,
        cost: cost(&work.spent, leader, questions.len()),
        time_ms_p50: report.time_ms.p50,
    };
    Ok(Run { row, recalls, facts: report.facts, ended_early: early })
}

/// Asks one question. A model that costs money is asked once for both passages and answer; with others, the time does
/// not include the answer.
async fn asked(engine: &QueryEngine, question: &Question, search: &SearchOptions, leader: &Leader) -> Result<Asked> {
    let engine = &leader.engine(engine, question);
    let is_answered = !question.answers.is_empty();
    let began = Instant::now();
    let time = |began: Instant| began.elapsed().as_secs_f64() * 1_000.0;
    if is_answered && matches!(leader, Leader::Live(_)) {
        // One call is reserved for the answer, so that the search has as many as in the other rows.
        let calls_max = search.calls_max.map(|calls| calls.saturating_add(1));
        let options = SearchOptions { top_k: 4 * PASSAGES_FIRST, calls_max, ..search.clone() };
        let answer = engine.ask(&question.question, &AskOptions { search: options, ..AskOptions::default() }).await?;
        let time_ms = time(began);
        let (ranked, ledger, writing) = (ranked(question, &answer.hits), answer.ledger.clone(), answer.writing.clone());
        return Ok(Asked { ranked, time_ms, ledger, writing, answer: Some(text(answer)) });
    }
    let (hits, ledger) = found(engine, question, search).await?;
    let time_ms = time(began);
    let answer = if is_answered {
        // The call reserved for the answer does not belong to the search.
        let calls_max = search.calls_max.map(|calls| calls.saturating_add(1));
        let options = AskOptions { search: SearchOptions { calls_max, ..search.clone() }, ..AskOptions::default() };
        Some(text(engine.ask(&question.question, &options).await?))
    } else {
        None
    };
    Ok(Asked { ranked: ranked(question, &hits), time_ms, ledger, writing: None, answer })
}

fn text(answer: Answer) -> String {
    answered_by(answer).0
}

/// Returns why a real model could not be asked everything; a limit on calls is part of the method and does not count.
fn end_of(ledger: &Ledger, writing: Option<&Writing>, leader: &Leader) -> Option<String> {
    if !matches!(leader, Leader::Live(_)) {
        return None;
    }
    let stop = ledger.work.as_ref().map(|work| work.stop);
    let stop = stop.filter(|stop| !matches!(stop, StopReason::Finished | StopReason::Calls));
    stop.map(|stop| stop.to_string()).or_else(|| writing.and_then(|writing| writing.degraded.clone()))
}

/// Returns the cost per question; none if there was none, or a price is unknown.
fn cost(spent: &Spent, leader: &Leader, questions: usize) -> Option<crate::domain::Cost> {
    let cost = spent.cost.clone().filter(|_| matches!(leader, Leader::Live(_)))?;
    Some(crate::domain::Cost { amount: cost.amount / questions.max(1) as f64, ..cost })
}

/// Returns the differences between two runs, question by question, in percent.
pub(super) fn differences(first: &[f64], own: &[f64]) -> Interval {
    percent(own.iter().zip(first).map(|(own, first)| own - first))
}
