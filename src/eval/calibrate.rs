//! Calibrates a reranker's scores to the probability that a passage is needed: a logistic curve is fitted to the
//! passages of half of the questions and measured on those of the other half (Platt, 1999).

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::gold::flat;
use super::questions::Question;
use super::report::Facts;
use super::stand_in::StandIn;
use super::table::{counted, printable};
use super::work::WorkReport;
use crate::domain::{Calibration, Hit, logistic};
use crate::error::{Error, Result};
use crate::query::{JOINED, JUDGED, QueryEngine, SearchOptions};

/// Bins of equal width for the expected calibration error.
const BINS: usize = 10;
/// Maximum steps of the fit.
const STEPS_MAX: usize = 100;
/// A step smaller than this ends the fit.
const STEP_MIN: f64 = 1e-10;
/// Keeps the curve finite if it separates all passages.
const RIDGE: f64 = 1e-6;
/// Probabilities for which the report says which passages are kept.
const LEAST: [f64; 5] = [0.02, 0.05, 0.1, 0.25, 0.5];

/// The passages of a question that a reranker scored, best first, each with whether it is needed.
type Judged = Vec<(f64, bool)>;

/// Errors of probabilities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Passages.
    pub passages: u64,
    /// Share of them that are needed.
    pub needed: f64,
    /// Mean of −ln of the probability of the actual outcome.
    pub log_loss: f64,
    /// Mean of the squared distance from the actual outcome.
    pub brier: f64,
    /// Mean distance, over ten bins of equal width, of the mean probability from the share that is needed.
    pub calibration_error: f64,
}

/// Passages of the held-out half that are kept with a minimum probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KeptAt {
    /// The least probability.
    pub relevance_min: f64,
    /// Passages that are kept of a question, on average: at least one.
    pub passages: f64,
    /// Share of the needed passages among those judged that are kept.
    pub needed_kept: f64,
    /// Share of the kept passages that are needed.
    pub kept_needed: f64,
    /// Share of the questions that keep only the best passage because none reaches the probability.
    pub only_best: f64,
}

/// The result of a calibration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationReport {
    /// The inputs.
    #[serde(flatten)]
    pub facts: Facts,
    /// Questions with scored passages.
    pub questions: u64,
    /// Questions that are left out, because the reranker scored none of their passages.
    pub unscored: u64,
    /// The curve, fitted to all questions.
    pub calibration: Calibration,
    /// The curve of half of the questions, on the other half.
    pub held_out: Quality,
    /// The curve of half of the questions, on the same half.
    pub in_sample: Quality,
    /// The baseline: the share of needed passages of one half as the probability of each passage of the other.
    pub constant: Quality,
    /// Passages kept in the held-out half.
    pub kept: Vec<KeptAt>,
    /// The cost of a language model or a reranker behind a server for all questions, if one was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkReport>,
}

/// Asks `engine` every question, and fits a curve to the scores of the reranker that `search` names; `stand_in` takes
/// the place of a language model. Questions alternate between the halves.
///
/// # Errors
///
/// [`Error::Option`] where nothing is reranked, or hits do not keep the scores and the order of the reranker;
/// [`Error::Question`] if there are too few scores for a curve, or higher ones do not mean needed passages; the first
/// error of the engine.
///
/// # Cancel safety
///
/// Dropping the future loses the measurement and nothing else.
pub async fn calibrate(
    engine: &QueryEngine,
    questions: &[Question],
    search: &SearchOptions,
    stand_in: Option<StandIn>,
) -> Result<CalibrationReport> {
    let stand_in = stand_in.map(StandIn::check).transpose()?;
    let Some(count) = search.rerank else {
        let (value, reason) = (String::new(), "without one, there are no scores to calibrate".to_owned());
        return Err(Error::Option { option: "reranker", value, reason });
    };
    if search.joins_lists() || search.pick.is_some() {
        let (value, reason) = (search.strategy.to_string(), JOINED.to_owned());
        return Err(Error::Option { option: "strategy", value, reason });
    }
    let options = SearchOptions { top_k: count, calibration: None, relevance_min: None, ..search.clone() };
    let (mut judged, mut unscored, mut reranker, mut work) = (Vec::new(), 0, String::new(), None);
    for question in questions {
        let asked = stand_in.as_ref().map(|it| engine.with_model(it.model(question, engine)));
        let asked = asked.as_ref().unwrap_or(engine);
        asked.reranker_name(options.reranked_by).unwrap_or_default().clone_into(&mut reranker);
        let found = asked.search(&question.question, &options).await?;
        WorkReport::of_search(&mut work, &found.ledger);
        if found.ledger.notes.iter().any(|note| note.contains(JUDGED)) && !found.hits.is_empty() {
            judged.push(found.hits.iter().map(|hit| (f64::from(hit.score), question.needs(hit))).collect::<Judged>());
        } else {
            unscored += 1;
        }
    }
    let [first, second] = [0, 1].map(|half| judged.iter().skip(half).step_by(2).collect::<Vec<_>>());
    let curve = Curve::fit(&pairs(&first))?;
    counts(&pairs(&second))?;
    let all = Curve::fit(&pairs(&judged.iter().collect::<Vec<_>>()))?;
    let share = pairs(&first).iter().filter(|it| it.1).count() as f64 / pairs(&first).len() as f64;
    let mut facts = Facts::of(engine, &options).await?;
    facts.notes.extend(stand_in.map(|it| it.note()));
    Ok(CalibrationReport {
        facts,
        questions: judged.len() as u64,
        unscored,
        calibration: Calibration {
            reranker,
            slope: all.slope,
            intercept: all.intercept,
            questions: judged.len() as u64,
            passages: judged.iter().map(Vec::len).sum::<usize>() as u64,
        },
        held_out: quality(&pairs(&second), |score| curve.at(score)),
        in_sample: quality(&pairs(&first), |score| curve.at(score)),
        constant: quality(&pairs(&second), |_| share),
        kept: LEAST.map(|least| kept_at(&second, curve, least)).to_vec(),
        work,
    })
}

impl Question {
    /// Returns whether the question needs a passage: one with a text that it asks for, or one of a document that it
    /// asks for.
    fn needs(&self, hit: &Hit) -> bool {
        if self.passages.is_empty() {
            return self.supporting.contains(&hit.source_id);
        }
        let text = flat(&hit.text);
        self.passages.iter().any(|gold| gold.is(&hit.source_id, &text))
    }
}

fn pairs(judged: &[&Judged]) -> Judged {
    judged.iter().copied().flatten().copied().collect()
}

fn refused(reason: &str) -> Error {
    Error::Question { reason: reason.to_owned() }
}

/// Returns the numbers of needed and of other passages.
///
/// # Errors
///
/// If either number is 0.
fn counts(pairs: &[(f64, bool)]) -> Result<[f64; 2]> {
    let needed = pairs.iter().filter(|it| it.1).count() as f64;
    let other = pairs.len() as f64 - needed;
    if needed < 1.0 || other < 1.0 {
        return Err(refused("too few scores: each half needs passages that are needed, and others"));
    }
    Ok([needed, other])
}

/// A logistic curve.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Curve {
    slope: f64,
    intercept: f64,
}

impl Curve {
    fn at(self, score: f64) -> f64 {
        logistic(self.slope.mul_add(score, self.intercept))
    }

    /// Fits a curve by Newton's method, with Platt's targets, which keep it from being surer than the number of
    /// passages allows.
    fn fit(pairs: &[(f64, bool)]) -> Result<Self> {
        let [needed, other] = counts(pairs)?;
        let (yes, no) = ((needed + 1.0) / (needed + 2.0), 1.0 / (other + 2.0));
        // Scores may be of any size; they are fitted as distances from their mean.
        let count = pairs.len() as f64;
        let mean = pairs.iter().map(|it| it.0).sum::<f64>() / count;
        let spread = (pairs.iter().map(|it| (it.0 - mean).powi(2)).sum::<f64>() / count).sqrt().max(1e-12);
        let scaled: Vec<(f64, f64)> =
            pairs.iter().map(|(score, is)| ((score - mean) / spread, if *is { yes } else { no })).collect();
        let loss = |slope: f64, intercept: f64| {
            let of = |(x, target): &(f64, f64)| {
                let z = slope.mul_add(*x, intercept);
                z.max(0.0) - z * target + (-z.abs()).exp().ln_1p()
            };
            scaled.iter().map(of).sum::<f64>() + RIDGE * (slope * slope + intercept * intercept)
        };
        let (mut slope, mut intercept) = (0.0, (needed / other).ln());
        for _ in 0..STEPS_MAX {
            let (mut g, mut h) = ([2.0 * RIDGE * slope, 2.0 * RIDGE * intercept], [2.0 * RIDGE, 0.0, 2.0 * RIDGE]);
            for (x, target) in &scaled {
                let p = logistic(slope * x + intercept);
                let (error, weight) = (p - target, p * (1.0 - p));
                g = [error.mul_add(*x, g[0]), g[1] + error];
                h = [(weight * x).mul_add(*x, h[0]), weight.mul_add(*x, h[1]), h[2] + weight];
            }
            let determinant = h[0].mul_add(h[2], -(h[1] * h[1])).max(f64::MIN_POSITIVE);
            let step = [(h[2] * g[0] - h[1] * g[1]) / determinant, (h[0] * g[1] - h[1] * g[0]) / determinant];
            let before = loss(slope, intercept);
            let mut rate = 1.0;
            while loss(slope - rate * step[0], intercept - rate * step[1]) > before && rate > STEP_MIN {
                rate /= 2.0;
            }
            (slope, intercept) = (slope - rate * step[0], intercept - rate * step[1]);
            if rate * (step[0].abs() + step[1].abs()) < STEP_MIN {
                break;
            }
        }
        if slope <= 0.0 || !slope.is_finite() {
            return Err(refused(
                "a higher score does not mean that a passage is needed, so that none can be calibrated",
            ));
        }
        Ok(Self { slope: slope / spread, intercept: intercept - slope * mean / spread })
    }
}

fn quality(pairs: &[(f64, bool)], probability: impl Fn(f64) -> f64) -> Quality {
    let mut quality = Quality { passages: pairs.len() as u64, ..Quality::default() };
    let mut bins = [(0.0, 0.0); BINS];
    for (score, is_needed) in pairs {
        let (p, actual) = (probability(*score), f64::from(u8::from(*is_needed)));
        let of_actual = if *is_needed { p } else { 1.0 - p };
        quality.needed += actual;
        quality.log_loss -= of_actual.max(1e-15).ln();
        quality.brier += (p - actual).powi(2);
        let bin = &mut bins[(1..BINS).take_while(|edge| p >= *edge as f64 / BINS as f64).count()];
        *bin = (bin.0 + p, bin.1 + actual);
    }
    let count = (pairs.len() as f64).max(1.0);
    for sum in [&mut quality.needed, &mut quality.log_loss, &mut quality.brier] {
        *sum /= count;
    }
    quality.calibration_error = bins.iter().map(|(said, actual)| (said - actual).abs()).sum::<f64>() / count;
    quality
}

fn kept_at(judged: &[&Judged], curve: Curve, relevance_min: f64) -> KeptAt {
    let (mut kept, mut needed_kept, mut needed, mut only_best) = (0.0, 0.0, 0.0, 0.0);
    for passages in judged {
        let reach = passages.iter().take_while(|(score, _)| curve.at(*score) >= relevance_min).count();
        let own = reach.max(1);
        only_best += f64::from(u8::from(reach == 0));
        kept += own as f64;
        needed += passages.iter().filter(|it| it.1).count() as f64;
        needed_kept += passages.iter().take(own).filter(|it| it.1).count() as f64;
    }
    let questions = (judged.len() as f64).max(1.0);
    KeptAt {
        relevance_min,
        passages: kept / questions,
        needed_kept: needed_kept / needed.max(1.0),
        kept_needed: needed_kept / kept.max(1.0),
        only_best: only_best / questions,
    }
}

impl Display for CalibrationReport {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Calibration { reranker, slope, intercept, passages, .. } = &self.calibration;
        writeln!(
            out,
            "{} · {} · {}, {} judged by {}",
            printable(&self.facts.strategy),
            counted(self.questions, "question"),
            counted(self.facts.corpus.documents, "document"),
            counted(*passages, "passage"),
            printable(reranker)
        )?;
        self.facts.notes.iter().try_for_each(|note| writeln!(out, "{}", printable(note)))?;
        if self.unscored > 0 {
            writeln!(out, "left out, because nothing was scored: {}", counted(self.unscored, "question"))?;
        }
        writeln!(out, "relevance = 1 / (1 + exp(−({slope:.4} · score {intercept:+.4})))\n")?;
        writeln!(
            out,
            "{:<26}{:>9}{:>9}{:>10}{:>8}{:>19}",
            "", "passages", "needed", "log loss", "Brier", "calibration error"
        )?;
        for (name, of) in [
            ("held-out half", &self.held_out),
            ("fitted half, in sample", &self.in_sample),
            ("constant, held-out half", &self.constant),
        ] {
            let Quality { passages, needed, log_loss, brier, calibration_error } = of;
            let needed = 100.0 * needed;
            writeln!(
                out,
                "{name:<26}{passages:>9}{needed:>7.1} %{log_loss:>10.4}{brier:>8.4}{calibration_error:>19.4}"
            )?;
        }
        writeln!(out, "\nkept in the held-out half")?;
        writeln!(
            out,
            "{:<16}{:>21}{:>18}{:>18}{:>11}",
            "relevance least", "passages a question", "of the needed", "needed of these", "only best"
        )?;
        for KeptAt { relevance_min, passages, needed_kept, kept_needed, only_best } in &self.kept {
            let [needed_kept, kept_needed, only_best] = [needed_kept, kept_needed, only_best].map(|it| 100.0 * it);
            writeln!(
                out,
                "{relevance_min:<16}{passages:>21.1}{needed_kept:>16.1} %{kept_needed:>16.1} %{only_best:>9.1} %"
            )?;
        }
        let Some(work) = &self.work else { return Ok(()) };
        write!(out, "\n{work}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Passages of which a share of `logistic(2 s − 1)` is needed, as closely as counts allow.
    fn drawn() -> Judged {
        let scores = (-20..=20).map(|it| f64::from(it) / 5.0);
        let of = |score: f64| {
            let needed = 200.0 * logistic(2.0 * score - 1.0);
            (0..200).map(move |it| (score, f64::from(it) + 0.5 < needed))
        };
        scores.flat_map(of).collect()
    }

    #[test]
    fn a_curve_is_recovered_whatever_the_scale_of_scores() {
        for (scale, shift) in [(1.0, 0.0), (1000.0, -500.0), (1e-3, 7.0)] {
            let pairs: Judged = drawn().iter().map(|(score, is)| (score * scale + shift, *is)).collect();
            let curve = Curve::fit(&pairs).unwrap();
            for score in [-2.0, 0.0, 0.5, 2.0_f64] {
                let (found, expect) = (curve.at(score * scale + shift), logistic(2.0 * score - 1.0));
                assert!((found - expect).abs() < 0.01, "{scale}: {found} is not {expect}");
            }
        }
    }

    #[test]
    fn no_smaller_loss_is_near_what_was_fitted() {
        let pairs: Judged = [(0.1, false), (0.2, true), (0.4, false), (0.7, true), (0.9, true)].to_vec();
        let curve = Curve::fit(&pairs).unwrap();
        let loss = |slope: f64, intercept: f64| {
            let of = |(score, is): &(f64, bool)| {
                let (p, target) = (logistic(slope * score + intercept), if *is { 0.8 } else { 0.25 });
                -target * p.ln() - (1.0 - target) * (1.0 - p).ln()
            };
            pairs.iter().map(of).sum::<f64>()
        };
        let least = loss(curve.slope, curve.intercept);
        for (slope, intercept) in [(0.01, 0.0), (-0.01, 0.0), (0.0, 0.01), (0.0, -0.01)] {
            assert!(loss(curve.slope + slope, curve.intercept + intercept) > least);
        }
    }

    #[test]
    fn scores_that_separate_everything_or_nothing_are_fitted_or_refused() {
        let parted = Curve::fit(&[(0.0, false), (1.0, true)]).unwrap();
        assert!(parted.at(1.0) < 0.9 && parted.at(0.0) > 0.1, "two passages make nobody sure: {parted:?}");
        for pairs in [&[(0.0, true), (1.0, false)][..], &[(0.5, true), (0.5, false)], &[(0.0, true)], &[]] {
            assert!(matches!(Curve::fit(pairs), Err(Error::Question { .. })), "{pairs:?}");
        }
    }

    #[test]
    fn quality_is_what_its_definitions_say() {
        let pairs = [(0.25, true), (0.25, false), (0.95, true)];
        let Quality { passages, needed, log_loss, brier, calibration_error } = quality(&pairs, |score| score);
        assert_eq!((passages, needed), (3, 2.0 / 3.0));
        let near = |found: f64, expect: f64| assert!((found - expect).abs() < 1e-12, "{found} is not {expect}");
        near(log_loss, -(0.25_f64.ln() + 0.75_f64.ln() + 0.95_f64.ln()) / 3.0);
        near(brier, (0.5625 + 0.0625 + 0.0025) / 3.0);
        near(calibration_error, (0.5 + 0.05) / 3.0);
    }

    #[test]
    fn the_best_passage_of_a_question_is_kept_in_any_case() {
        let curve = Curve { slope: 1.0, intercept: 0.0 };
        let (good, poor): (Judged, Judged) =
            (vec![(2.0, true), (1.0, true), (-3.0, false)], vec![(-1.0, false), (-2.0, true)]);
        let kept = kept_at(&[&good, &poor], curve, 0.5);
        let expect = KeptAt {
            relevance_min: 0.5,
            passages: 1.5,
            needed_kept: 2.0 / 3.0,
            kept_needed: 2.0 / 3.0,
            only_best: 0.5,
        };
        assert_eq!(kept, expect);
    }
}
