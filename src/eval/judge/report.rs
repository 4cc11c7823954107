//! The verdicts of a judge, as tables.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde::Serialize;

use super::super::table::{counted, printable, shown};
use super::answer_files::Contest;
use super::tally::{CriterionTally, JudgedPair};
use crate::domain::{ChatError, Spent};

/// The kind of failure of a reply that does not fit.
pub(super) const UNUSABLE: &str = "unusable";

/// Verdicts that were asked for and not given, of one kind of failure.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FailedVerdicts {
    /// How many.
    pub count: u64,
    /// The last of them, in words.
    pub last: String,
}

impl FailedVerdicts {
    pub(super) fn add(&mut self, last: String) {
        *self = Self { count: self.count + 1, last };
    }
}

/// What a judge said.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeReport {
    /// Every pair of systems.
    pub pairs: Vec<JudgedPair>,
    /// Whether questions that were to be judged have no verdict in one order or in both.
    pub is_partial: bool,
    /// Verdicts that the judge did not give, by the kind of failure: `unusable` for a reply that does not fit, or that
    /// of the call.
    pub failures: BTreeMap<String, FailedVerdicts>,
    /// Why the run ended early, where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// What this run came to, where a model was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
    /// What the reader should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl JudgeReport {
    /// Returns what verdicts say that were given before.
    #[must_use]
    pub fn of_verdicts(pairs: Vec<JudgedPair>) -> Self {
        let is_partial = pairs.iter().any(|pair| pair.judged < pair.questions);
        Self { pairs, is_partial, failures: BTreeMap::new(), stopped: None, spent: None, notes: Vec::new() }
    }

    /// Returns the report of a judge on a contest.
    pub(super) fn of(contest: &Contest, judge: &str, mut pairs: Vec<JudgedPair>) -> Self {
        let pair = pairs.pop().unwrap_or_else(|| JudgedPair::unjudged(&contest.a, &contest.b, judge));
        let questions = contest.questions().len() as u64;
        let mut report = Self::of_verdicts(vec![JudgedPair { questions, words: Some(contest.words()), ..pair }]);
        let equal = contest.questions().iter().filter(|it| it.are_equal()).count() as u64;
        if equal > 0 {
            report.notes.push(format!("{} with equal answers: ties, without asking", counted(equal, "question")));
        }
        if contest.unanswered > 0 {
            report.notes.push(format!("{} of the file without answers", counted(contest.unanswered, "question")));
        }
        report
    }

    /// Returns the fault of a judge whose replies were of no use, all of them: it judged nothing.
    #[must_use]
    pub fn useless(&self) -> Option<ChatError> {
        let of_replies = |kind: &str| [UNUSABLE, "refused", "truncated", "useless"].contains(&kind);
        let is_useless =
            self.failures.keys().all(|kind| of_replies(kind)) && self.pairs.iter().all(|it| it.verdicts == 0);
        let FailedVerdicts { last, .. } = self.failures.get(UNUSABLE).or(self.failures.values().next())?;
        let count = self.failures.values().map(|it| it.count).sum::<u64>();
        let replies = u32::try_from(count).unwrap_or(u32::MAX);
        is_useless.then(|| ChatError::Useless { replies, last: last.clone() })
    }
}

/// As Markdown.
impl Display for JudgeReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (pair, number) in self.pairs.iter().zip(0..) {
            if number > 0 {
                writeln!(out)?;
            }
            write_pair(out, pair)?;
        }
        writeln!(out)?;
        for (kind, FailedVerdicts { count, last }) in &self.failures {
            writeln!(out, "Not judged ({kind}): {}; the last: {}", counted(*count, "verdict"), printable(last))?;
        }
        if let Some(why) = &self.stopped {
            writeln!(out, "Ended early: {}", printable(why))?;
        }
        if self.is_partial {
            writeln!(out, "Partial: questions without a verdict in both orders are in no win and no tie.")?;
        }
        for note in &self.notes {
            writeln!(out, "Note: {}.", printable(note))?;
        }
        match &self.spent {
            Some(spent) => writeln!(out, "In all: {spent}"),
            None => Ok(()),
        }
    }
}

fn write_pair(out: &mut Formatter<'_>, pair: &JudgedPair) -> fmt::Result {
    let [a, b, judge] = [&pair.a, &pair.b, &pair.judge].map(|name| printable(name));
    writeln!(out, "A: {a}\nB: {b}")?;
    let (judged, questions) = (pair.judged, counted(pair.questions, "question"));
    writeln!(
        out,
        "judged by {judge}: {judged} of {questions} in both orders, {} in all",
        counted(pair.verdicts, "verdict")
    )?;
    if let Some([a, b]) = pair.words {
        writeln!(out, "words of an answer: A {a:.0}, B {b:.0}")?;
    }
    writeln!(
        out,
        "\n| criterion | A wins | B wins | ties | of these for the first shown, the second | A of decided, 95 % \
         | A with half of ties, 95 % | A of verdicts |"
    )?;
    writeln!(out, "|---|--:|--:|--:|--:|--:|--:|--:|")?;
    for (criterion, tally) in &pair.criteria {
        let CriterionTally { a_wins, b_wins, ties, ties_for_first_shown, ties_for_second_shown, .. } = tally;
        let decided = tally.a_of_decided.map_or_else(|| "–".to_owned(), shown);
        writeln!(
            out,
            "| {} | {a_wins} | {b_wins} | {ties} | {ties_for_first_shown}, {ties_for_second_shown} | {decided} | {} \
             | {:.1} |",
            criterion.name(),
            shown(tally.a_score),
            tally.a_of_verdicts
        )?;
    }
    Ok(())
}
