//! An engine asked every question of a file, and its lists scored.

use std::time::Instant;

use rustc_hash::FxHashSet;

use super::questions::Question;
use super::report::{Facts, RetrievalReport, RunLine, Scored, score};
use super::simulated::SimulatedPick;
use crate::domain::{Hit, Pick, Spent};
use crate::error::Result;
use crate::query::{QueryEngine, SearchOptions, TOP_K_MAX, pick};

/// Documents that a list holds at least, where there are so many.
const DOCUMENTS_MIN: usize = 20;
/// Passages that are asked for first: documents have several.
const PASSAGES_FIRST: usize = 40;

/// Asks `engine` every question, one after the other, and scores what it finds. Where options ask for a pick, the
/// engine's model picks, or `simulated` in its place.
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
    simulated: Option<SimulatedPick>,
) -> Result<(Vec<RunLine>, RetrievalReport)> {
    let simulated = simulated.map(SimulatedPick::check).transpose()?;
    let mut scored = Vec::with_capacity(questions.len());
    let mut picks = Picks::default();
    for question in questions {
        let started = Instant::now();
        let hits = found(engine, &question.question, options).await?;
        let hits = picked(engine, question, hits, options, simulated, &mut picks).await?;
        let ranked = documents(&hits);
        scored.push(Scored { question, ranked, time_ms: started.elapsed().as_secs_f64() * 1_000.0 });
    }
    let mut facts = Facts::of(engine, options).await?;
    facts.notes.extend(picks.notes(simulated));
    let lines = scored.iter().map(|line| line.line(&facts)).collect();
    Ok((lines, RetrievalReport { spent: picks.spent, ..score(&scored, facts) }))
}

/// What came of picks.
#[derive(Default)]
struct Picks {
    /// What they came to, where a model was asked.
    spent: Option<Spent>,
    /// How many gave nothing that can be used, and why one did not.
    degraded: (usize, String),
}

impl Picks {
    fn add(&mut self, pick: Pick, is_simulated: bool) {
        if !is_simulated {
            self.spent.get_or_insert_default().add(&pick.spent);
        }
        if let Some(why) = pick.degraded {
            self.degraded = (self.degraded.0 + 1, why);
        }
    }

    fn notes(&self, simulated: Option<SimulatedPick>) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(SimulatedPick { accuracy, seed }) = simulated {
            notes.push(format!(
                "picks are simulated: right with probability {accuracy}, seed {seed}, errors independent"
            ));
        }
        let (count, why) = &self.degraded;
        if *count > 0 {
            notes.push(format!("{count} picks gave nothing that can be used, and changed nothing; the last: {why}"));
        }
        notes
    }
}

/// Lets a model, or a judge in its place, pick among what was found, where that is asked for.
async fn picked(
    engine: &QueryEngine,
    question: &Question,
    hits: Vec<Hit>,
    options: &SearchOptions,
    simulated: Option<SimulatedPick>,
    picks: &mut Picks,
) -> Result<Vec<Hit>> {
    let Some(shown) = options.pick else { return Ok(hits) };
    let (hits, by) = match simulated {
        Some(judge) => {
            let model = judge.judging(question, &hits[..hits.len().min(shown)]);
            pick(&model, &question.question, hits, shown).await?
        }
        None => engine.pick(&question.question, hits, shown).await?,
    };
    picks.add(by, simulated.is_some());
    Ok(hits)
}

/// Returns the best passages, as many as make a list of documents.
async fn found(engine: &QueryEngine, question: &str, options: &SearchOptions) -> Result<Vec<Hit>> {
    let mut top_k = PASSAGES_FIRST.max(options.pick.unwrap_or(0));
    loop {
        let hits = engine.search(question, &SearchOptions { top_k, pick: None, ..options.clone() }).await?.hits;
        if documents(&hits).len() >= DOCUMENTS_MIN || hits.len() < top_k || top_k == TOP_K_MAX {
            return Ok(hits);
        }
        top_k = (top_k * 4).min(TOP_K_MAX);
    }
}

/// Returns the source ids of the documents found, best first, none twice.
fn documents(hits: &[Hit]) -> Vec<String> {
    let mut seen = FxHashSet::default();
    hits.iter().map(|hit| &hit.source_id).filter(|id| seen.insert(*id)).cloned().collect()
}
