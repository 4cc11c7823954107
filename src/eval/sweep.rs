//! Scores a traversal by its number of rounds and of passages returned, in the layout of `HopRAG`'s tables 3 to 5:
//! recall, retrieval F1, passages in the queue of each round, edges judged.

use std::fmt::{self, Display, Formatter, Write as _};
use std::time::Instant;

use rustc_hash::FxHashSet;
use serde::Serialize;

use super::metrics::at_depth;
use super::questions::Question;
use super::report::Facts;
use super::table::{counted, printable};
use crate::domain::Hit;
use crate::error::{Error, Result};
use crate::query::{QueryEngine, SearchOptions, StrategyKind};

/// Passages returned.
pub const SWEEP_TOP_K: [usize; 6] = [2, 4, 8, 12, 16, 20];
/// Rounds.
pub const SWEEP_N_HOP: [u32; 6] = [1, 2, 3, 4, 5, 6];

/// What one number of passages scores, in percent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct SweepCell {
    /// Passages returned.
    pub top_k: u32,
    /// The share of the gold documents among their documents.
    pub recall: f64,
    /// The harmonic mean of precision and recall.
    pub f1: f64,
}

/// What one number of rounds scores.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SweepRow {
    /// Rounds.
    pub n_hop: u32,
    /// By the number of passages returned.
    pub cells: Vec<SweepCell>,
    /// Passages in the queue of each round, over the questions.
    pub queue: Vec<f64>,
    /// Edges judged for a question.
    pub judged: f64,
    /// Time of a search with the most passages, in milliseconds.
    pub time_ms: f64,
}

/// What a sweep found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepReport {
    /// What was scored.
    #[serde(flatten)]
    pub facts: Facts,
    /// How many questions were asked.
    pub questions: u64,
    /// One row for each number of rounds.
    pub sweep: Vec<SweepRow>,
}

/// Asks `engine` every question with each number of rounds and of passages.
///
/// # Errors
///
/// [`Error::Option`] for a strategy that has no rounds, and the first error of the engine.
///
/// # Cancel safety
///
/// Dropping the future loses the measurement and nothing else.
pub async fn sweep(engine: &QueryEngine, questions: &[Question], options: &SearchOptions) -> Result<SweepReport> {
    let kind = engine.resolved(options.strategy);
    if !matches!(kind, StrategyKind::Hop | StrategyKind::Trail) {
        return Err(Error::Option {
            option: "strategy to sweep",
            value: kind.to_string(),
            reason: "hop and trail have rounds".to_owned(),
        });
    }
    let mut rows = Vec::new();
    for n_hop in SWEEP_N_HOP {
        let mut row = SweepRow { n_hop, queue: vec![0.0; n_hop as usize], ..SweepRow::default() };
        let options = SearchOptions { n_hop: Some(n_hop), ..options.clone() };
        let mut cells = SWEEP_TOP_K.map(|top_k| SweepCell { top_k: top_k as u32, ..SweepCell::default() });
        for question in questions {
            ask(engine, question, &options, &mut row, &mut cells).await?;
        }
        row.cells = cells.to_vec();
        row.scale(questions.len().max(1) as f64);
        rows.push(row);
    }
    Ok(SweepReport { facts: Facts::of(engine, options).await?, questions: questions.len() as u64, sweep: rows })
}

/// Adds the scores of one question. A walk may depend on the number of passages requested, so each number gets its own
/// search.
async fn ask(
    engine: &QueryEngine,
    question: &Question,
    options: &SearchOptions,
    row: &mut SweepRow,
    cells: &mut [SweepCell],
) -> Result<()> {
    for cell in cells.iter_mut() {
        let top_k = cell.top_k as usize;
        let started = Instant::now();
        let found = engine.search(&question.question, &SearchOptions { top_k, ..options.clone() }).await?;
        let (recall, f1) = at_depth(&documents(&found.hits), &question.supporting, top_k);
        cell.recall += 100.0 * recall;
        cell.f1 += 100.0 * f1;
        if top_k == SWEEP_TOP_K[SWEEP_TOP_K.len() - 1] {
            row.time_ms += started.elapsed().as_secs_f64() * 1_000.0;
            for (sum, round) in row.queue.iter_mut().zip(&found.ledger.rounds) {
                *sum += f64::from(round.queue);
            }
            row.judged += found.ledger.rounds.iter().map(|round| f64::from(round.judged)).sum::<f64>();
        }
    }
    Ok(())
}

fn documents(hits: &[Hit]) -> Vec<String> {
    let mut seen = FxHashSet::default();
    hits.iter().map(|hit| &hit.source_id).filter(|id| seen.insert(id.as_str())).cloned().collect()
}

impl SweepRow {
    /// Turns sums into means.
    fn scale(&mut self, count: f64) {
        for cell in &mut self.cells {
            cell.recall /= count;
            cell.f1 /= count;
        }
        self.queue.iter_mut().for_each(|sum| *sum /= count);
        self.judged /= count;
        self.time_ms /= count;
    }
}

/// Picks the figure of a cell that a table shows.
type Pick = fn(&SweepCell) -> f64;

impl Display for SweepReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{} · {} · {} · version {}",
            printable(&self.facts.strategy),
            counted(self.questions, "question"),
            counted(self.facts.corpus.passages, "passage"),
            self.facts.version
        )?;
        let tables: [(&str, Pick); 2] = [("recall", |cell| cell.recall), ("retrieval F1", |cell| cell.f1)];
        for (name, pick) in tables {
            let head: String = SWEEP_TOP_K.iter().fold(String::new(), |mut head, top_k| {
                // Writing to a string cannot fail.
                let _ok = write!(head, "{top_k:>7}");
                head
            });
            writeln!(out, "\n{name} in percent by rounds and passages returned\nrounds{head}")?;
            for row in &self.sweep {
                write!(out, "{:<6}", row.n_hop)?;
                row.cells.iter().try_for_each(|cell| write!(out, "{:>7.1}", pick(cell)))?;
                writeln!(out)?;
            }
        }
        writeln!(out, "\nrounds  edges judged     ms  passages in the queue of each round")?;
        for row in &self.sweep {
            let queue: Vec<String> = row.queue.iter().map(|queue| format!("{queue:.1}")).collect();
            writeln!(out, "{:<6}{:>14.0}{:>7.1}  {}", row.n_hop, row.judged, row.time_ms, queue.join(" "))?;
        }
        Ok(())
    }
}
