//! Aggregates verdicts: wins on which both orders agree, ties, and confidence intervals.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::bootstrap::{Interval, wilson};
use super::super::report::percent;
use super::verdicts::{TIE, VerdictLine};
use crate::skill::Criterion;

/// What the verdicts by one criterion say, over the questions that were judged in both orders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct CriterionTally {
    /// Questions that the first system wins in both orders.
    pub a_wins: u64,
    /// Questions that the second wins in both.
    pub b_wins: u64,
    /// The other questions.
    pub ties: u64,
    /// Ties in which the judge twice preferred what it was shown first.
    pub ties_for_first_shown: u64,
    /// Ties in which it twice preferred what it was shown second.
    pub ties_for_second_shown: u64,
    /// The share of the first system's wins among all wins, in percent, with its 95 % Wilson interval; none where
    /// nobody wins.
    pub a_of_decided: Option<Interval>,
    /// The share of the first system's wins among all questions, a tie counted as half, in percent, with its 95 %
    /// bootstrap interval.
    pub a_score: Interval,
    /// The share of single verdicts for the first system, a tie counted as half, in percent: what papers call a win
    /// rate. Questions that were judged in one order only are counted too.
    pub a_of_verdicts: f64,
}

/// Two systems, and what a judge said of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedPair {
    /// The first system.
    pub a: String,
    /// The second.
    pub b: String,
    /// Who judged.
    pub judge: String,
    /// Questions that were to be judged.
    pub questions: u64,
    /// Questions that were judged in both orders.
    pub judged: u64,
    /// Single verdicts, of one order each.
    pub verdicts: u64,
    /// Words of an answer of each system on average, where the answers are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<[f64; 2]>,
    /// By each criterion.
    pub criteria: BTreeMap<Criterion, CriterionTally>,
}

impl JudgedPair {
    /// Returns a pair without verdicts.
    pub(super) fn unjudged(a: &str, b: &str, judge: &str) -> Self {
        let criteria = Criterion::ALL.map(|criterion| (criterion, CriterionTally::default())).into();
        let [a, b, judge] = [a, b, judge].map(str::to_owned);
        Self { a, b, judge, questions: 0, judged: 0, verdicts: 0, words: None, criteria }
    }
}

/// The verdicts on one question: with the first system shown first, and shown second.
#[derive(Debug, Clone, Copy, Default)]
struct Both<'a> {
    first: Option<&'a VerdictLine>,
    second: Option<&'a VerdictLine>,
}

/// Returns what verdicts say of each pair of systems, by the names of these and of the judge. Questions that have a
/// verdict count as those that were to be judged.
#[must_use]
pub fn tallied<'a>(lines: impl IntoIterator<Item = &'a VerdictLine>) -> Vec<JudgedPair> {
    let mut pairs: BTreeMap<[&str; 3], BTreeMap<&str, Both<'_>>> = BTreeMap::new();
    for line in lines {
        let questions = pairs.entry([&line.a, &line.b, &line.judge]).or_default();
        let both = questions.entry(&line.question_id).or_default();
        *(if line.a_shown_first { &mut both.first } else { &mut both.second }) = Some(line);
    }
    let pair = |([a, b, judge], questions): ([&str; 3], BTreeMap<&str, Both<'_>>)| {
        let all: Vec<Both<'_>> = questions.into_values().collect();
        let judged = all.iter().filter(|both| both.first.is_some() && both.second.is_some()).count() as u64;
        let verdicts = all.iter().map(|both| u64::from(both.first.is_some()) + u64::from(both.second.is_some())).sum();
        let criteria = Criterion::ALL.map(|criterion| (criterion, tally(&all, criterion, a))).into();
        JudgedPair { questions: all.len() as u64, judged, verdicts, criteria, ..JudgedPair::unjudged(a, b, judge) }
    };
    pairs.into_iter().map(pair).collect()
}

/// Returns the value of a verdict for the first system: 1, 0, or a half if neither is better.
fn worth(line: &VerdictLine, criterion: Criterion, a: &str) -> f64 {
    match line.winner.get(&criterion).map(String::as_str) {
        Some(winner) if winner == a => 1.0,
        None | Some(TIE) => 0.5,
        Some(_) => 0.0,
    }
}

fn tally(all: &[Both<'_>], criterion: Criterion, a: &str) -> CriterionTally {
    let mut tally = CriterionTally::default();
    let (mut scores, mut singles) = (Vec::new(), Vec::new());
    for both in all {
        let worth = |line: Option<&VerdictLine>| line.map(|line| worth(line, criterion, a));
        let (first, second) = (worth(both.first), worth(both.second));
        singles.extend([first, second].into_iter().flatten());
        let (Some(first), Some(second)) = (first, second) else { continue };
        let is = |value: f64, other: f64| (value - other).abs() < f64::EPSILON;
        let (won, lost) = (is(first, 1.0) && is(second, 1.0), is(first, 0.0) && is(second, 0.0));
        tally.a_wins += u64::from(won);
        tally.b_wins += u64::from(lost);
        tally.ties += u64::from(!won && !lost);
        tally.ties_for_first_shown += u64::from(is(first, 1.0) && is(second, 0.0));
        tally.ties_for_second_shown += u64::from(is(first, 0.0) && is(second, 1.0));
        scores.push(0.5 + (f64::from(u8::from(won)) - f64::from(u8::from(lost))) / 2.0);
    }
    let decided = tally.a_wins + tally.b_wins;
    tally.a_of_decided = wilson(tally.a_wins, decided).map(|it| it.scaled(100.0));
    tally.a_score = percent(scores);
    tally.a_of_verdicts = percent(singles).mean;
    tally
}
