//! The hop walk with a language model that reasons. Each passage is left once, so there is at most one call per
//! passage; `judge-nodes` makes one per round. If the model gives nothing usable, or may not be called any more,
//! similarity takes the same step as without a model, so a useless model changes nothing.
//!
//! - `choose`: from each passage, the one step whose question helps most, or none (the paper's Algorithm 1).
//! - `judge-edges`: from each passage all steps that help, of the best [`STEPS_JUDGED`] (`bfs_hop2` of the public
//!   code).
//! - `judge-nodes`: all steps from the passages that help (`bfs`); those judged needed come first in the end.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{Hopping, Visited, WIDTH};
use crate::domain::{Judgement, RoundReasoning, Verdict};
use crate::error::Result;
use crate::graph::hop::{HopStep, WalkRound, Walking, best_exit, exits};
use crate::graph::ordinal::PassageOrdinal;
use crate::query::options::{Preset, Reasoning};
use crate::query::session::Session;
use crate::query::session::query::on_cpu;
use crate::skill::{ChooseSkill, ChooseTask, JudgeSkill, JudgeTask, JudgedItem, STEPS_MAX, StepShown};

/// Steps from a passage that are judged, as many as the public code looks at.
const STEPS_JUDGED: usize = 8;
/// Passages of a queue that many steps lead to: twice the width, as in the public code.
const QUEUE_MAX: usize = 2 * WIDTH;
/// What the model's choice adds to the value of a step. Chosen out of six with a simulated judge that is right in 0.8
/// or 0.9 of its choices; R@2 / R@5 of the better one:
///
/// | worth | 2wiki-hippo | musique-dev | hotpot-dev |
/// |---|---|---|---|
/// | 0.3 | 80.4 / 93.8 | 59.0 / 67.9 | 82.2 / 93.4 |
/// | **0.5** | **79.4 / 93.9** | **59.3 / 69.1** | **83.4 / 93.8** |
/// | 1 | 76.6 / 93.9 | 57.9 / 70.6 | 81.2 / 92.2 |
const CHOSEN_WORTH: f32 = 0.5;
/// What its word for one of several steps adds: of many verdicts more are wrong than of one choice.
const NEEDED_WORTH: f32 = 0.25;

/// A model's verdicts in a walk.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// Its work in each round, as long as it was asked.
    pub(super) rounds: Vec<RoundReasoning>,
    /// Its verdicts on passages.
    verdicts: FxHashMap<PassageOrdinal, Verdict>,
}

/// The result of one round.
struct Taken {
    /// What leaves each passage of the queue.
    exits: Vec<Vec<HopStep>>,
    steps: Vec<HopStep>,
    reasoning: RoundReasoning,
    /// Whether the model was of no use, though there was something to ask.
    is_useless: bool,
}

/// Walks to the end of the last round.
///
/// # Errors
///
/// [`Error::Chat`](crate::Error::Chat) if something about the model has to be corrected, and whatever the store fails
/// with.
pub(super) async fn walked(
    hopping: &Arc<Hopping>,
    session: &Session,
    mut walking: Walking,
) -> Result<(Walking, Judged)> {
    let mut judgements = Judged::default();
    let mut is_asked = true;
    while !walking.queue().is_empty() {
        let reasoning = if is_asked { hopping.settings.reasoning } else { Reasoning::Similarity };
        let round = Round { hopping, session, number: judgements.rounds.len() as u32 };
        let taken = match reasoning {
            Reasoning::Similarity => round.by_similarity(walking.queue()).await?,
            Reasoning::Choose => round.chosen(walking.queue()).await?,
            Reasoning::JudgeEdges => round.judged_edges(walking.queue()).await?,
            Reasoning::JudgeNodes => round.judged_nodes(walking.queue(), &mut judgements.verdicts).await?,
        };
        let judged = taken.exits.iter().map(Vec::len).sum::<usize>() as u32;
        walking.advance(WalkRound { judged, steps: taken.steps, ..WalkRound::default() });
        if is_asked {
            is_asked = !taken.is_useless;
            judgements.rounds.push(taken.reasoning);
            walking.narrow(QUEUE_MAX, |passage| hopping.passage_similarity(passage));
        }
    }
    Ok((walking, judgements))
}

/// One round of a walk.
struct Round<'a> {
    hopping: &'a Arc<Hopping>,
    session: &'a Session,
    /// From 0.
    number: u32,
}

impl Round<'_> {
    /// Computes, where it does not block other tasks, the edges that leave each passage of `queue`.
    async fn with<T: Send + 'static>(
        &self,
        queue: &[PassageOrdinal],
        compute: impl FnOnce(&Hopping, Vec<Vec<HopStep>>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (hopping, queue) = (Arc::clone(self.hopping), queue.to_vec());
        on_cpu(&self.hopping.query, move |_| compute(&hopping, hopping.exits(&queue))).await
    }

    async fn by_similarity(&self, queue: &[PassageOrdinal]) -> Result<Taken> {
        let exits = self.with(queue, |_, exits| Ok(exits)).await?;
        Ok(self.round(exits, |_, exits| Vec::from_iter(best_exit(exits, &self.hopping.options))))
    }

    /// Returns a round in which `steps` says which steps are taken from each passage, by its place in the queue.
    fn round(&self, exits: Vec<Vec<HopStep>>, mut steps: impl FnMut(usize, &[HopStep]) -> Vec<HopStep>) -> Taken {
        let steps = exits.iter().enumerate().flat_map(|(place, exits)| steps(place, exits)).collect();
        Taken { exits, steps, reasoning: RoundReasoning::default(), is_useless: false }
    }

    async fn chosen(&self, queue: &[PassageOrdinal]) -> Result<Taken> {
        let (question, round, own) = (self.hopping.query.question.text.clone(), self.number, queue.to_vec());
        let prepared = self.with(queue, move |hopping, exits| {
            let query = &hopping.query;
            query.prepare_shown(&own)?;
            let mut tasks = Vec::new();
            for (here, exits) in own.iter().zip(&exits).filter(|it| !it.1.is_empty()) {
                let steps = exits.iter().take(STEPS_MAX).map(|step| hopping.shown_step(step)).collect::<Result<_>>()?;
                tasks.push(ChooseTask { question: question.clone(), round, here: query.shown(*here)?, steps });
            }
            Ok((tasks, exits))
        });
        let (tasks, exits) = prepared.await?;
        let asked = self.session.perform_each::<ChooseSkill>(tasks).await?;
        let is_useless = asked.is_useless();
        let mut reasoning = RoundReasoning { asked: asked.asked, ..RoundReasoning::default() };
        let mut outputs = asked.outputs.into_iter();
        let taken = self.round(exits, |_, exits| {
            if exits.is_empty() {
                return Vec::new();
            }
            match outputs.next().flatten() {
                Some(Some(place)) => {
                    exits.get(place).map(|step| self.helpful(step, Verdict::Necessary)).into_iter().collect()
                }
                Some(None) => {
                    reasoning.declined += 1;
                    Vec::new()
                }
                None => {
                    reasoning.degraded += 1;
                    Vec::from_iter(best_exit(exits, &self.hopping.options))
                }
            }
        });
        Ok(Taken { reasoning, is_useless, ..taken })
    }

    async fn judged_edges(&self, queue: &[PassageOrdinal]) -> Result<Taken> {
        let (question, round, own) = (self.hopping.query.question.text.clone(), self.number, queue.to_vec());
        let prepared = self.with(queue, move |hopping, exits| {
            let query = &hopping.query;
            let targets = exits.iter().flat_map(|exits| exits.iter().take(STEPS_JUDGED)).map(|step| step.to);
            query.prepare_shown(&targets.chain(own.iter().copied()).collect::<Vec<PassageOrdinal>>())?;
            let mut tasks = Vec::new();
            for exits in exits.iter().filter(|exits| !exits.is_empty()) {
                let item = |step: &HopStep| {
                    let StepShown { question, .. } = hopping.shown_step(step)?;
                    Ok(JudgedItem::Step { from: query.shown_name(step.from)?, question, to: query.shown(step.to)? })
                };
                let items = exits.iter().take(STEPS_JUDGED).map(item).collect::<Result<_>>()?;
                tasks.push(JudgeTask { question: question.clone(), round, items });
            }
            Ok((tasks, exits))
        });
        let (tasks, exits) = prepared.await?;
        let asked = self.session.perform_each::<JudgeSkill>(tasks).await?;
        let is_useless = asked.is_useless();
        let mut reasoning = RoundReasoning { asked: asked.asked, ..RoundReasoning::default() };
        let mut outputs = asked.outputs.into_iter();
        let taken = self.round(exits, |_, exits| {
            if exits.is_empty() {
                return Vec::new();
            }
            let Some(verdicts) = outputs.next().flatten() else {
                reasoning.degraded += 1;
                return Vec::from_iter(best_exit(exits, &self.hopping.options));
            };
            let judged = || exits.iter().zip(&verdicts);
            reasoning
                .verdicts
                .extend(judged().map(|(step, verdict)| self.judgement(Some(step.from), step.to, *verdict)));
            let helpful = judged().filter(|it| *it.1 != Verdict::Irrelevant);
            let steps: Vec<HopStep> = helpful.map(|(step, verdict)| self.helpful(step, *verdict)).collect();
            reasoning.declined += u32::from(steps.is_empty());
            steps
        });
        Ok(Taken { reasoning, is_useless, ..taken })
    }

    async fn judged_nodes(
        &self,
        queue: &[PassageOrdinal],
        known: &mut FxHashMap<PassageOrdinal, Verdict>,
    ) -> Result<Taken> {
        let (question, round, own) = (self.hopping.query.question.text.clone(), self.number, queue.to_vec());
        let prepared = self.with(queue, move |hopping, exits| {
            let query = &hopping.query;
            query.prepare_shown(&own)?;
            let item = |passage: &PassageOrdinal| Ok(JudgedItem::Passage(query.shown(*passage)?));
            let items = own.iter().map(item).collect::<Result<_>>()?;
            Ok((JudgeTask { question, round, items }, exits))
        });
        let (task, exits) = prepared.await?;
        let mut asked = self.session.perform_each::<JudgeSkill>(vec![task]).await?;
        let verdicts = asked.outputs.pop().flatten();
        let mut reasoning = RoundReasoning { asked: asked.asked, ..RoundReasoning::default() };
        let Some(verdicts) = verdicts else {
            reasoning.degraded = 1;
            let taken = self.round(exits, |_, exits| Vec::from_iter(best_exit(exits, &self.hopping.options)));
            return Ok(Taken { reasoning, is_useless: true, ..taken });
        };
        known.extend(queue.iter().copied().zip(verdicts.iter().copied()));
        reasoning.verdicts =
            queue.iter().zip(&verdicts).map(|(it, verdict)| self.judgement(None, *it, *verdict)).collect();
        reasoning.declined = verdicts.iter().filter(|verdict| **verdict == Verdict::Irrelevant).count() as u32;
        let taken = self.round(exits, |place, exits| match verdicts[place] {
            Verdict::Irrelevant => Vec::new(),
            verdict => exits.iter().map(|step| self.helpful(step, verdict)).collect(),
        });
        Ok(Taken { reasoning, ..taken })
    }

    fn judgement(&self, from: Option<PassageOrdinal>, to: PassageOrdinal, verdict: Verdict) -> Judgement {
        let id = |passage: PassageOrdinal| self.hopping.query.reader.passage_id(passage);
        Judgement { from: from.map(id), passage: id(to), verdict }
    }

    /// Returns a step that the model favors, with its new value.
    fn helpful(&self, step: &HopStep, verdict: Verdict) -> HopStep {
        if self.hopping.settings.preset == Preset::Paper {
            return *step;
        }
        let word = match (self.hopping.settings.reasoning, verdict) {
            (Reasoning::JudgeNodes, _) | (_, Verdict::Irrelevant) => 0.0,
            (Reasoning::Choose, _) => CHOSEN_WORTH,
            (_, Verdict::Related) => NEEDED_WORTH / 2.0,
            (_, Verdict::Necessary) => NEEDED_WORTH,
        };
        HopStep { worth: step.worth.max(0.0) + word, ..*step }
    }
}

impl Hopping {
    /// Returns what leaves each passage of `queue`, best first.
    fn exits(&self, queue: &[PassageOrdinal]) -> Vec<Vec<HopStep>> {
        self.compared(|compared| queue.iter().map(|from| exits(self.graph(), *from, compared)).collect())
    }

    fn shown_step(&self, step: &HopStep) -> Result<StepShown> {
        let incoming = self.graph().edge_incoming[step.edge];
        Ok(StepShown {
            to: self.query.reader.passage_id(step.to),
            name: self.query.shown_name(step.to)?,
            question: self.query.reader.incoming(incoming).to_owned(),
        })
    }
}

impl Judged {
    /// Returns the passages of a walk, best first: those judged needed, those that have to do with the question, the
    /// others, each as similarity has them; scores stay in order.
    pub(super) fn ranked(&self, kept: &[Visited], pruned: &[Visited]) -> Vec<Visited> {
        let verdict = |it: &Visited| self.verdicts.get(&it.passage).copied().unwrap_or_default();
        let mut all: Vec<Visited> = kept.iter().chain(pruned).copied().collect();
        let best = all.first().map_or(0.0, |best| best.helpfulness);
        all.sort_by_key(|it| std::cmp::Reverse(verdict(it)));
        for visited in &mut all {
            visited.helpfulness += best * f32::from(verdict(visited) as u8);
        }
        all
    }
}
