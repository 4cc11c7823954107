//! Asks an engine every question of a file and scores its lists.

use std::time::Instant;

use rustc_hash::FxHashSet;

use super::questions::Question;
use super::report::{Facts, RetrievalReport, RunLine, Scored, score};
use super::stand_in::StandIn;
use super::work::WorkReport;
use crate::domain::{Hit, Ledger};
use crate::error::Result;
use crate::query::{QueryEngine, SearchOptions, TOP_K_MAX};

/// Minimum documents of a list, if there are that many.
const DOCUMENTS_MIN: usize = 20;
/// Passages that are requested first: several may belong to one document.
pub(super) const PASSAGES_FIRST: usize = 40;

/// Asks `engine` every question, one after the other, and scores its lists. If options request a language model, that
/// of the engine is used, or `stand_in` instead.
///
/// # Errors
///
/// The first error of the engine.
///
/// # Cancel safety
///
/// Dropping the future loses the measurement and nothing else.
pub async fn retrieval(
    engine: &QueryEngine,
    questions: &[Question],
    options: &SearchOptions,
    stand_in: Option<StandIn>,
) -> Result<(Vec<RunLine>, RetrievalReport)> {
    let stand_in = stand_in.map(StandIn::check).transpose()?;
    let mut scored = Vec::with_capacity(questions.len());
    let mut all: Option<WorkReport> = None;
    for question in questions {
        let started = Instant::now();
        let asked = stand_in.as_ref().map(|it| engine.with_model(it.model(question, engine)));
        let (hits, ledger) = found(asked.as_ref().unwrap_or(engine), question, options).await?;
        WorkReport::of_search(&mut all, &ledger);
        let ranked = ranked(question, &hits);
        scored.push(Scored { question, ranked, time_ms: started.elapsed().as_secs_f64() * 1_000.0 });
    }
    let mut facts = Facts::of(engine, options).await?;
    facts.notes.extend(stand_in.map(|it| it.note()));
    let lines = scored.iter().map(|line| line.line(&facts)).collect();
    Ok((lines, RetrievalReport { work: all, ..score(&scored, facts) }))
}

/// Returns the best passages, enough for a list of documents, and the trace of how they were found.
pub(super) async fn found(
    engine: &QueryEngine,
    question: &Question,
    options: &SearchOptions,
) -> Result<(Vec<Hit>, Ledger)> {
    let by_passages = !question.passages.is_empty();
    // A search that asks a model is not repeated.
    let is_scored = options.rerank.is_some() && engine.has_server_reranker();
    let is_once = by_passages || is_scored || options.may_ask_model() || options.calls_max.is_some();
    let mut top_k = if is_once && !by_passages { 4 * PASSAGES_FIRST } else { PASSAGES_FIRST };
    loop {
        let found = engine.search(&question.question, &SearchOptions { top_k, ..options.clone() }).await?;
        let hits = found.hits;
        if is_once || documents(&hits).len() >= DOCUMENTS_MIN || hits.len() < top_k || top_k == TOP_K_MAX {
            return Ok((hits, found.ledger));
        }
        top_k = (top_k * 4).min(TOP_K_MAX);
    }
}

/// Returns the list that is scored: documents, or passages if the question asks for passages.
pub(super) fn ranked(question: &Question, hits: &[Hit]) -> Vec<String> {
    if question.passages.is_empty() {
        return documents(hits);
    }
    let passages = hits.iter().map(|hit| (hit.source_id.as_str(), hit.text.as_str()));
    let mut ranked = question.labelled(passages, |place| hits[place].passage.to_string());
    ranked.truncate(PASSAGES_FIRST);
    ranked
}

/// Returns the source ids of the documents found, best first and without duplicates.
pub(super) fn documents(hits: &[Hit]) -> Vec<String> {
    let mut seen = FxHashSet::default();
    hits.iter().map(|hit| &hit.source_id).filter(|id| seen.insert(*id)).cloned().collect()
}
