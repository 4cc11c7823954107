//! The results of every method of a run with a real model, as one table.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::exact::answer_scores;
use super::live::{LiveLine, LiveRow};
use super::metrics::{at_depth, scores};
use super::questions::Question;
use super::report::{percent, time_per_question};
use super::table::{counted, printable};
use super::work::cost_per_question;
use crate::domain::{CorpusId, Counts, IndexVersion, Spent};

/// What one method came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LiveFigures {
    /// The method.
    pub row: String,
    /// The tables of the paper that have it; empty where it is ours.
    pub tables: String,
    /// Questions that it was asked.
    pub questions: u64,
    /// Share of the supporting documents among the first two, in percent.
    pub recall_at_2: f64,
    /// Among the first five.
    pub recall_at_5: f64,
    /// F1 of all documents that were shown to who answers, in percent.
    pub retrieval_f1: f64,
    /// Exact match of the answer, in percent.
    pub exact_match: f64,
    /// F1 of its words, in percent.
    pub answer_f1: f64,
    /// Calls a question that found passages, kept replies among them.
    pub finding_calls: f64,
    /// Answers that the model did not write.
    pub degraded: u64,
    /// Calls that gave nothing that can be used while passages were looked for.
    pub unusable: u64,
    /// What all calls came to.
    pub spent: Spent,
    /// Half of the questions took no longer, in milliseconds.
    pub time_ms_p50: f64,
}

/// What every method came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LiveReport {
    /// The version of the index that was read.
    pub version: IndexVersion,
    /// The embedder of the index.
    pub embedder: String,
    /// The corpus that was read: equal for equal passages.
    pub corpus_id: CorpusId,
    /// How much the index holds.
    pub corpus: Counts,
    /// The model that was asked.
    pub model: String,
    /// Every method that has an answered question.
    pub rows: Vec<LiveFigures>,
    /// Questions that are left, over all methods.
    pub left: u64,
    /// What this run spent on questions that are left: kept replies spare that later.
    pub spent_on_left: Spent,
    /// Why a question was left, the last time that the server could not do what was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Why the run ended early, where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

/// Returns the figures of a method; none without lines.
pub(super) fn figures(row: &LiveRow, lines: &[(&Question, &LiveLine)]) -> Option<LiveFigures> {
    if lines.is_empty() {
        return None;
    }
    let mean = |value: &dyn Fn(&Question, &LiveLine) -> f64| {
        percent(lines.iter().map(|(question, line)| value(question, line))).mean
    };
    let recall = |slot: usize| mean(&|question, line| scores(&line.ranked, &question.supporting).recall[slot]);
    let answer = |question: &Question, line: &LiveLine| answer_scores(&line.answer, &question.answers);
    let mut spent = Spent::default();
    for (_, line) in lines {
        spent.add(&line.spent);
    }
    let calls: u64 = lines.iter().map(|(_, line)| line.finding_calls).sum();
    Some(LiveFigures {
        row: row.name.clone(),
        tables: row.tables.to_owned(),
        questions: lines.len() as u64,
        recall_at_2: recall(1),
        recall_at_5: recall(2),
        retrieval_f1: mean(&|question, line| at_depth(&line.ranked, &question.supporting, row.search.top_k).1),
        exact_match: mean(&|question, line| answer(question, line).exact),
        answer_f1: mean(&|question, line| answer(question, line).f1),
        finding_calls: calls as f64 / lines.len() as f64,
        degraded: lines.iter().filter(|(_, line)| line.degraded.is_some()).count() as u64,
        unusable: lines.iter().map(|(_, line)| u64::from(line.unusable)).sum(),
        spent,
        time_ms_p50: time_per_question(lines.iter().map(|(_, line)| line.time_ms)).p50,
    })
}

impl Display for LiveReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let documents = counted(self.corpus.documents, "document");
        writeln!(out, "{} · {documents} · version {}", printable(&self.model), self.version)?;
        writeln!(out, "percent; calls, tokens, seconds and cost a question; tables of the HopRAG paper\n")?;
        writeln!(
            out,
            "{:<24}{:>5}{:>7}{:>7}{:>7}{:>7}{:>7}{:>7}{:>8}{:>7}{:>13}  tables",
            "", "asked", "R@2", "R@5", "F1", "EM", "ans F1", "calls", "tokens", "s", "cost"
        )?;
        for row in &self.rows {
            let count = row.questions as f64;
            writeln!(
                out,
                "{:<24}{:>5}{:>7.1}{:>7.1}{:>7.1}{:>7.1}{:>7.1}{:>7.1}{:>8.0}{:>7.1}{:>13}  {}",
                row.row,
                row.questions,
                row.recall_at_2,
                row.recall_at_5,
                row.retrieval_f1,
                row.exact_match,
                row.answer_f1,
                (row.spent.calls + row.spent.cached) as f64 / count,
                row.spent.usage.tokens() as f64 / count,
                row.time_ms_p50 / 1_000.0,
                cost_per_question(&row.spent, row.questions).unwrap_or_else(|| "–".to_owned()),
                row.tables
            )?;
        }
        writeln!(out)?;
        for row in self.rows.iter().filter(|row| row.degraded > 0) {
            writeln!(out, "{}: {} answers were not written by the model", row.row, row.degraded)?;
        }
        for row in self.rows.iter().filter(|row| row.unusable > 0) {
            writeln!(out, "{}: {} calls to find passages were unusable", row.row, row.unusable)?;
        }
        let mut spent = Spent::default();
        for row in &self.rows {
            spent.add(&row.spent);
        }
        writeln!(out, "in all: {spent}")?;
        if self.spent_on_left.calls > 0 {
            writeln!(out, "and on questions that are left: {}", self.spent_on_left)?;
        }
        if let Some(why) = &self.stopped {
            writeln!(out, "ended early: {}", printable(why))?;
        }
        if let Some(why) = &self.fault {
            writeln!(out, "left for later: {}", printable(why))?;
        }
        if self.left > 0 {
            writeln!(out, "{} left: the same command continues", counted(self.left, "question"))?;
        }
        Ok(())
    }
}
