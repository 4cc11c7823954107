//! `trail` with a language model that judges its steps: in each round, one call judges the best of the new steps. A
//! verdict applies to one step in all later rounds: a useless step weighs less, while other steps to the same passage,
//! and the passage's own score, stay. A step that the answer needs weighs more, and after the final ranking, its
//! passage, and less so the one that it leaves, gain in score. If the model gives nothing usable, the walk continues
//! with the earlier verdicts.
//!
//! A question needs few steps: if a model calls more than [`NEEDED_FULL`] needed in one call, they share the weight of
//! that many.
//!
//! The factors and additions were chosen in round numbers, out of twenty settings, with a simulated judge that is right
//! in 0.8 or 0.9 of its verdicts and always makes the same errors (`docs/figures.md` has others). Stronger ones find
//! more with the better judge and less than no judge with the worse one: R@5 at 0.9 / 0.8 on musique-dev, which is 81.4
//! without a judge, and on hotpot-dev, 99.4:
//!
//! | no use, needed | adds | shared from | musique-dev | hotpot-dev |
//! |---|---|---|---|---|
//! | × 0.3, × 1.3 | 0.25 and 0.1 | – | 87.9 / 80.7 | |
//! | × 0.8, × 1.1 | 0.3 and 0.05 | – | 86.0 / 83.7 | 99.1 / 98.8 |
//! | **× 0.8, × 1.1** | **0.45 and 0.05** | **2** | **86.1 / 84.0** | **99.4 / 99.7** |
//! | × 0.8, × 1.1 | 0.6 and 0.05 | 2 | 86.6 / 83.4 | 99.1 / 99.4 |
//! | × 0.7, × 1.3 | 0.5 and 0.05 | 2 | 86.8 / 83.6 | 99.4 / 98.8 |

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Steps;
use crate::domain::{Judgement, RoundReasoning, Verdict};
use crate::error::Result;
use crate::graph::ordinal::PassageOrdinal;
use crate::graph::top;
use crate::graph::trail::{Taken, TrailOffers, TrailOptions, TrailWalk, TrailWalking, TrailWeights};
use crate::query::session::Session;
use crate::query::session::query::{Query, on_cpu};
use crate::skill::{JudgeSkill, JudgeTask, JudgedItem};

/// Steps of a round that are judged.
const STEPS_JUDGED: usize = 20;

/// The factor for the gain of a useless step.
const NO_USE: f32 = 0.8;
/// The factor for the gain of a needed step.
const NEEDED: f32 = 1.1;
/// The addition of a needed step to its target, as a share of the spread of the first ten scores.
const NEEDED_TARGET: f32 = 0.45;
/// Its addition to the passage that it leaves.
const NEEDED_SOURCE: f32 = 0.05;
/// Needed steps per call with full weight; if there are more, they share this weight.
const NEEDED_FULL: f32 = 2.0;
/// The rank that, with the first, defines the spread of scores.
const SPREAD_RANK: usize = 10;

/// A model's verdicts in a walk.
#[derive(Debug, Clone, Default)]
pub(super) struct Judged {
    /// Its work in each round.
    pub(super) rounds: Vec<RoundReasoning>,
    /// Its verdict on each step, by both ends.
    verdicts: FxHashMap<(PassageOrdinal, PassageOrdinal), Word>,
}

/// A model's verdict on one step.
#[derive(Debug, Clone, Copy)]
struct Word {
    verdict: Verdict,
    /// How much of its weight it has, from 0 to 1.
    share: f32,
}

impl Judged {
    /// Returns the factor for the gain of a step.
    fn factor(&self, taken: &Taken) -> f32 {
        match self.verdicts.get(&(taken.from, taken.edge.to)) {
            Some(Word { verdict: Verdict::Irrelevant, .. }) => NO_USE,
            Some(Word { verdict: Verdict::Necessary, share }) => (NEEDED - 1.0).mul_add(*share, 1.0),
            Some(Word { verdict: Verdict::Related, .. }) | None => 1.0,
        }
    }

    /// Returns the steps of a round that are to be judged, the best first.
    fn unjudged(&self, offers: &TrailOffers) -> Vec<Taken> {
        let taken = offers.taken(|taken| self.factor(taken));
        let new = taken.values().filter(|it| !self.verdicts.contains_key(&(it.from, it.edge.to)));
        let best = top::best(new.map(|it| (it.edge.to, it.gain)), STEPS_JUDGED);
        best.iter().filter_map(|(to, _)| taken.get(to).copied()).collect()
    }

    /// Returns the `top_k` best of `ranked`, with what steps that the answer needs add.
    pub(super) fn ranked(&self, mut ranked: Vec<(PassageOrdinal, f32)>, top_k: usize) -> Vec<(PassageOrdinal, f32)> {
        let spread = match (ranked.first(), ranked.get(SPREAD_RANK - 1).or(ranked.last())) {
            (Some(first), Some(last)) => first.1 - last.1,
            _ => 0.0,
        };
        let mut added: FxHashMap<PassageOrdinal, f32> = FxHashMap::default();
        let needed = self.verdicts.iter().filter(|(_, word)| word.verdict == Verdict::Necessary);
        for ((from, to), Word { share, .. }) in needed {
            for (passage, worth) in [(*to, NEEDED_TARGET), (*from, NEEDED_SOURCE)] {
                let best = added.entry(passage).or_default();
                *best = best.max(worth * share * spread);
            }
        }
        if !added.is_empty() {
            for (passage, score) in &mut ranked {
                *score += added.get(passage).copied().unwrap_or_default();
            }
            ranked = top::best(ranked, usize::MAX);
        }
        ranked.truncate(top_k);
        ranked
    }
}

/// Walks to the end of the last round.
///
/// # Errors
///
/// [`Error::Chat`](crate::Error::Chat) if something about the model has to be corrected, and whatever the store fails
/// with.
pub(super) async fn walked(
    session: &Session,
    query: &Arc<Query>,
    weights: &Arc<TrailWeights>,
    options: TrailOptions,
) -> Result<(Arc<TrailWalk>, Judged)> {
    let own = Arc::clone(weights);
    let mut walking = on_cpu(query, move |query| Ok(TrailWalking::begin(&query.evidence()?, &own, &options))).await?;
    let mut judged = Judged::default();
    let mut is_asked = true;
    loop {
        let own = Arc::clone(weights);
        let offered = on_cpu(query, move |query| {
            let offers = walking.offers(query.reader.graph(), &query.evidence()?, &own);
            Ok((walking, offers))
        });
        let (going, offers) = offered.await?;
        walking = going;
        let Some(offers) = offers else { break };
        let steps = if is_asked { judged.unjudged(&offers) } else { Vec::new() };
        if is_asked {
            is_asked = judged.add(session, query, steps).await?;
        }
        walking.advance(offers, |taken| judged.factor(taken));
    }
    Ok((Arc::new(walking.finish()), judged))
}

impl Judged {
    /// Has the model judge the steps of a round; returns whether it is asked again.
    async fn add(&mut self, session: &Session, query: &Arc<Query>, steps: Vec<Taken>) -> Result<bool> {
        let mut round = RoundReasoning::default();
        let number = self.rounds.len() as u32;
        if steps.is_empty() {
            self.rounds.push(round);
            return Ok(true);
        }
        let shown = steps.clone();
        let items = on_cpu(query, move |query| {
            query.prepare_shown(&shown.iter().map(|it| it.edge.to).collect::<Vec<PassageOrdinal>>())?;
            let mut steps = Steps::of(query);
            let item = |taken: &Taken| {
                let question = steps.step(number + 1, taken)?.question;
                Ok(JudgedItem::Step { from: query.shown_name(taken.from)?, question, to: query.shown(taken.edge.to)? })
            };
            shown.iter().map(item).collect::<Result<Vec<JudgedItem>>>()
        });
        let task = JudgeTask { question: query.question.text.clone(), round: number, items: items.await? };
        let mut asked = session.perform_each::<JudgeSkill>(vec![task]).await?;
        round.asked = asked.asked;
        let verdicts = asked.outputs.pop().flatten();
        round.degraded = u32::from(verdicts.is_none());
        let is_asked = verdicts.is_some();
        let verdicts = verdicts.unwrap_or_default();
        let share = share(&verdicts);
        for (taken, verdict) in steps.iter().zip(verdicts) {
            self.verdicts.insert((taken.from, taken.edge.to), Word { verdict, share });
            round.verdicts.push(Judgement {
                from: Some(query.reader.passage_id(taken.from)),
                passage: query.reader.passage_id(taken.edge.to),
                verdict,
            });
        }
        self.rounds.push(round);
        Ok(is_asked)
    }
}

/// Returns how much of its weight each of the verdicts of one call has.
fn share(verdicts: &[Verdict]) -> f32 {
    let needed = verdicts.iter().filter(|it| **it == Verdict::Necessary).count();
    (NEEDED_FULL / needed as f32).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_steps_are_called_needed_in_one_call_the_less_each_weighs() {
        let of = |needed: usize| {
            let mut verdicts = vec![Verdict::Necessary; needed];
            verdicts.extend([Verdict::Irrelevant, Verdict::Related]);
            format!("{:.2}", share(&verdicts))
        };
        assert_eq!([of(0), of(1), of(2), of(4), of(8)], ["1.00", "1.00", "1.00", "0.50", "0.25"]);
    }

    #[test]
    fn a_needed_step_adds_its_share_of_how_far_scores_spread_to_both_of_its_ends() {
        let passage = PassageOrdinal;
        let ranked = vec![(passage(7), 3.0), (passage(8), 2.0), (passage(9), 1.0)];
        let order = |words: &[((u32, u32), Verdict, f32)]| {
            let verdicts = words.iter().map(|((from, to), verdict, share)| {
                ((passage(*from), passage(*to)), Word { verdict: *verdict, share: *share })
            });
            Judged { verdicts: verdicts.collect(), ..Judged::default() }.ranked(ranked.clone(), 3)
        };
        assert_eq!(order(&[]), ranked);
        assert_eq!(order(&[((7, 9), Verdict::Irrelevant, 1.0), ((7, 8), Verdict::Related, 1.0)]), ranked);
        let spread = 2.0;
        let found = order(&[((8, 9), Verdict::Necessary, 1.0)]);
        let due = [(7, 3.0), (8, 2.0 + NEEDED_SOURCE * spread), (9, 1.0 + NEEDED_TARGET * spread)];
        assert_eq!(found, due.map(|(number, score)| (passage(number), score)));
        let found = order(&[((8, 9), Verdict::Necessary, 0.5)]);
        assert_eq!(found[2], (passage(9), 1.0 + NEEDED_TARGET * spread / 2.0));
        // Of several verdicts on one passage, the strongest counts, once.
        let words = [((8, 9), Verdict::Necessary, 1.0), ((7, 9), Verdict::Necessary, 0.5)];
        assert_eq!(order(&words)[2], (passage(9), 1.0 + NEEDED_TARGET * spread));
    }
}
