//! An engine asked every question of a file, and its lists scored.

use std::time::Instant;

use rustc_hash::FxHashSet;

use super::questions::Question;
use super::report::{Facts, RetrievalReport, RunLine, Scored, score};
use crate::error::Result;
use crate::query::{QueryEngine, SearchOptions, TOP_K_MAX};

/// Documents that a list holds at least, where there are so many.
const DOCUMENTS_MIN: usize = 20;
/// Passages that are asked for first: documents have several.
const PASSAGES_FIRST: usize = 40;

/// Asks `engine` every question, one after the other, and scores what it finds.
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
) -> Result<(Vec<RunLine>, RetrievalReport)> {
    let mut scored = Vec::with_capacity(questions.len());
    for question in questions {
        let started = Instant::now();
        let ranked = ranked(engine, &question.question, options).await?;
        scored.push(Scored { question, ranked, time_ms: started.elapsed().as_secs_f64() * 1_000.0 });
    }
    let facts = Facts::of(engine, options).await?;
    let lines = scored.iter().map(|line| line.line(&facts)).collect();
    Ok((lines, score(&scored, facts)))
}

/// Returns the source ids of the documents found, best first, none twice.
pub(super) async fn ranked(engine: &QueryEngine, question: &str, options: &SearchOptions) -> Result<Vec<String>> {
    let mut top_k = PASSAGES_FIRST;
    loop {
        let found = engine.search(question, &SearchOptions { top_k, ..options.clone() }).await?;
        let exhausted = found.hits.len() < top_k || top_k == TOP_K_MAX;
        let mut seen = FxHashSet::default();
        let documents = found.hits.into_iter().map(|hit| hit.source_id).filter(|id| seen.insert(id.clone()));
        let documents: Vec<String> = documents.collect();
        if documents.len() >= DOCUMENTS_MIN || exhausted {
            return Ok(documents);
        }
        top_k = (top_k * 4).min(TOP_K_MAX);
    }
}
