//! `noise`: `HANRAG`. A router decides how many look-ups a question takes; each look-up keeps the relevant passages and
//! reads an answer from them.
//!
//! - *straightforward*, *single*: the whole question is looked up once. If nothing is relevant, it becomes complex.
//! - *compound*: a decomposer divides it, and its parts are looked up concurrently.
//! - *complex*: in each round, a refiner names the next seed question, which is looked up, until a discriminator says
//!   that the results suffice.
//!
//! The paper has no code and leaves some points open. Decided here:
//!
//! - An answer comes from the collection alone, so a *straightforward* question is looked up like a *single* one.
//! - Relevance is judged for all passages of a look-up in one call, not in one call each.
//! - If the relevance filter leaves nothing, the best passage is kept.
//! - If the router gives nothing usable, a question is *complex*: its first seed question may be the question itself.
//! - Five rounds: the paper's "4.5" cannot be a maximum, since its mean is above it.
//! - The final answer is written from the answers of all rounds and the passages behind them; the paper's formula may
//!   also mean the last answer alone.
//! - Passages for the whole question are always included, fused with those of the parts.
//!
//! Without a model, rules divide a compound question, filter and read; rules cannot refine a complex one, which is
//! looked up as a whole by `trail`, which follows names by itself.
//!
//! To measure what a part contributes, it can be left out, see [`NoisePart`].

use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::Arc;

use super::gathering::Gathering;
use super::pipeline::Pipeline;
use super::{Finding, Found, Strategy};
use crate::domain::{AnsweredBy, PlanEnd, Route, SubQuestionTrace};
use crate::error::{Error, Result};
use crate::query::options::{Preset, SearchOptions, StrategyKind};
use crate::query::pieces::decompose::Decompose;
use crate::query::pieces::part::{AnsweredPart, PartSearch, answered_part};
use crate::query::pieces::relevance::judged;
use crate::query::session::Session;
use crate::skill::{
    AnsweredStep, DecomposeSkill, DecomposeTask, EnoughSkill, EnoughTask, RouteSkill, RouteTask, SeedSkill, SeedTask,
    SubQuestion, parts_by_rule, route_by_rule,
};
use crate::text::tokens;

/// Rounds for a complex question, unless options say otherwise.
const ROUNDS: u32 = 5;
/// Passages of a look-up that are judged.
const JUDGED: usize = 10;
/// Parts of a compound question that are looked up at once.
const AT_ONCE: usize = 4;
/// Rounds in a row without an answer that end a search.
const STALE_MAX: usize = 2;

/// A part of [`Noise`] that can be left out, to measure its contribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoisePart {
    /// Decides how many look-ups a question takes. Without it, every question is complex.
    Router,
    /// Names the next seed question. Without it, the seed is the question itself, and there is only one round, because
    /// another would find the same.
    Refiner,
    /// Keeps the relevant passages of a look-up. Without it, all pass, in the order found; a question that is looked up
    /// once never becomes complex.
    Filter,
    /// Decides after a round whether the results suffice. Without it, rounds continue until the refiner asks nothing
    /// new, up to the limit.
    Ending,
}

impl NoisePart {
    /// Every part that can be left out.
    pub const ALL: [Self; 4] = [Self::Router, Self::Refiner, Self::Filter, Self::Ending];

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Router => "router",
            Self::Refiner => "refiner",
            Self::Filter => "filter",
            Self::Ending => "ending",
        }
    }
}

impl FromStr for NoisePart {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|part| part.name() == text).ok_or_else(|| Error::Option {
            option: "part to leave out",
            value: text.to_owned(),
            reason: format!("`noise` has {}", Self::ALL.map(Self::name).join(", ")),
        })
    }
}

/// See the top of this file.
#[derive(Clone)]
pub struct Noise {
    /// Rounds for a complex question, at most.
    pub rounds: u32,
    /// Passages of a look-up that are judged.
    pub judged: usize,
    /// The part that is left out, if any.
    pub without: Option<NoisePart>,
    /// How the lists of parts are combined with that of the whole question.
    pub preset: Preset,
    /// What finds passages for the whole question.
    pub whole: Arc<dyn Strategy>,
    /// What finds passages for a part.
    pub parts: Arc<dyn Strategy>,
}

impl Noise {
    /// Returns what `options` ask for: the whole question by `trail`, parts by what passages say themselves; with the
    /// settings of the paper, both by `lexical`.
    #[must_use]
    pub fn of(options: &SearchOptions) -> Self {
        let kind = if options.preset == Preset::Paper { StrategyKind::Lexical } else { StrategyKind::Trail };
        let own = SearchOptions { strategy: kind, n_hop: None, ..options.clone() };
        Self {
            rounds: options.n_hop.unwrap_or(ROUNDS),
            judged: JUDGED,
            without: options.noise_without,
            preset: options.preset,
            whole: Arc::new(Pipeline::of(&own)),
            parts: Arc::new(Decompose::plain(&own)),
        }
    }

    async fn found(&self, session: &Session) -> Result<Found> {
        let (gathered, is_promising) = Gathering::begin(self.whole.as_ref(), session).await?;
        let mut work = Work { noise: self, session, gathered };
        if is_promising {
            work.routed().await?;
        }
        Ok(work.gathered.ended(session, self.preset))
    }

    /// Continues from the results so far, as for a complex question. Parts that a model answered are steps already
    /// taken.
    pub(super) async fn go_on(&self, session: &Session, found: Found) -> Result<Found> {
        let steps = found.ledger.parts.iter().filter_map(step).collect();
        let mut work = Work { noise: self, session, gathered: Gathering::of(found) };
        (work.gathered.plan.route, work.gathered.plan.routed_by) = (Some(Route::Complex), Some(AnsweredBy::Rule));
        work.gathered.plan.end = work.complex(steps).await?;
        Ok(work.gathered.ended(session, self.preset))
    }
}

/// Returns a part that a model answered as a step.
fn step(part: &SubQuestionTrace) -> Option<AnsweredStep> {
    let answer = part.answers.first().filter(|answer| answer.by == AnsweredBy::Model)?;
    Some(AnsweredStep { question: part.asked.first()?.clone(), answer: Some(answer.text.clone()) })
}

impl Strategy for Noise {
    fn name(&self) -> &str {
        StrategyKind::Noise.name()
    }

    fn find<'a>(&'a self, session: &'a Session) -> Finding<'a> {
        Box::pin(self.found(session))
    }
}

/// A question on its way.
struct Work<'a> {
    noise: &'a Noise,
    session: &'a Session,
    gathered: Gathering,
}

impl Work<'_> {
    async fn routed(&mut self) -> Result<()> {
        let (route, by) = self.route().await?;
        (self.gathered.plan.route, self.gathered.plan.routed_by) = (Some(route), Some(by));
        self.gathered.plan.end = match route {
            Route::Straightforward | Route::Single => {
                self.gathered.plan.rounds = 1;
                // Only a model can name another route.
                if self.is_found_whole().await? || !self.session.may_call() {
                    PlanEnd::Finished
                } else {
                    self.complex(Vec::new()).await?
                }
            }
            Route::Compound => self.compound(by).await?,
            Route::Complex => self.complex(Vec::new()).await?,
        };
        Ok(())
    }

    /// Returns whether a part of the strategy is there.
    fn has(&self, part: NoisePart) -> bool {
        self.noise.without != Some(part)
    }

    /// Returns how many passages of a look-up are judged.
    fn judged(&self) -> usize {
        if self.has(NoisePart::Filter) { self.noise.judged } else { 0 }
    }

    async fn route(&self) -> Result<(Route, AnsweredBy)> {
        if !self.has(NoisePart::Router) {
            return Ok((Route::Complex, AnsweredBy::Rule));
        }
        let question = self.session.question();
        let by_rule = route_by_rule(question);
        if !self.session.may_call() {
            return Ok((by_rule, AnsweredBy::Rule));
        }
        self.session.enter("waiting for the language model to say how many steps the question takes");
        let said = self.session.perform::<RouteSkill>(&RouteTask { question: question.to_owned() }).await?;
        let unsure = if by_rule == Route::Compound { by_rule } else { Route::Complex };
        Ok(said.map_or((unsure, AnsweredBy::Rule), |route| (route, AnsweredBy::Model)))
    }

    /// Judges the passages for the whole question; returns whether any is relevant.
    async fn is_found_whole(&mut self) -> Result<bool> {
        let session = self.session;
        session.enter("judging passages");
        let relevant = judged(session, session.question(), 0, &self.gathered.whole, self.judged()).await?;
        if relevant.by == AnsweredBy::Model {
            self.gathered.plan.relevant = relevant.kept;
            self.gathered.whole.hits = relevant.hits;
            self.gathered.whole.is_rearranged = true;
        }
        Ok(relevant.is_any)
    }

    /// Looks up the parts of a question concurrently. A question without parts is looked up as a whole.
    async fn compound(&mut self, routed_by: AnsweredBy) -> Result<PlanEnd> {
        let session = self.session;
        session.enter("taking the question apart");
        let task = DecomposeTask { question: session.question().to_owned() };
        let said = session.perform::<DecomposeSkill>(&task).await?.unwrap_or_default();
        // A part that needs another's answer cannot be asked concurrently.
        let is_independent = said.len() > 1 && said.iter().all(|part| part.needs.is_empty());
        if said.len() > 1 && !is_independent {
            return self.complex(Vec::new()).await;
        }
        let is_guessed = !is_independent && routed_by == AnsweredBy::Rule;
        let parts: Vec<String> = if is_independent {
            said.into_iter().map(|SubQuestion { text, .. }| text).collect()
        } else {
            parts_by_rule(session.question())
        };
        self.gathered.plan.rounds = 1;
        if parts.len() < 2 {
            self.is_found_whole().await?;
            return Ok(PlanEnd::Finished);
        }
        session.enter("looking up the parts of the question");
        let how = self.search(is_guessed);
        let answered = move |session: Session, part| answered_part(session, part, how.clone());
        let parts = (0..).zip(parts).collect();
        for part in session.each(parts, session.at_once(AT_ONCE), answered).await? {
            self.take(part, 1);
        }
        Ok(PlanEnd::Finished)
    }

    /// Looks up one seed question after the other, after `steps`.
    async fn complex(&mut self, mut steps: Vec<AnsweredStep>) -> Result<PlanEnd> {
        let (session, how) = (self.session, self.search(false));
        let mut asked: BTreeSet<Vec<String>> = steps.iter().map(|step| tokens(&step.question)).collect();
        let mut stale = 0;
        for round in 0..self.noise.rounds {
            session.enter("looking up what the answer depends on");
            let next = match self.seed(&steps).await? {
                Some(Some(next)) => next,
                Some(None) => return Ok(PlanEnd::Sufficient),
                None if round == 0 => session.question().to_owned(),
                None => return Ok(PlanEnd::NoModel),
            };
            if !asked.insert(tokens(&next)) {
                return Ok(PlanEnd::NoNewQuestion);
            }
            self.gathered.plan.rounds = round + 1;
            let part = answered_part(session.clone(), (round, next.clone()), how.clone()).await?;
            let answer = part.answer().map(|answer| answer.text.clone());
            stale = if answer.is_some() { 0 } else { stale + 1 };
            steps.push(AnsweredStep { question: next, answer });
            self.take(part, round + 1);
            if stale == STALE_MAX {
                return Ok(PlanEnd::NothingFound);
            }
            if round + 1 < self.noise.rounds && self.is_enough(&steps).await? {
                return Ok(PlanEnd::Sufficient);
            }
        }
        Ok(PlanEnd::Rounds)
    }

    /// Returns the model's next seed question, or that there is none; none without a usable reply.
    async fn seed(&self, steps: &[AnsweredStep]) -> Result<Option<Option<String>>> {
        let task = SeedTask { question: self.session.question().to_owned(), steps: steps.to_vec() };
        if self.has(NoisePart::Refiner) {
            self.session.perform::<SeedSkill>(&task).await
        } else {
            Ok(Some(Some(task.question)))
        }
    }

    async fn is_enough(&mut self, steps: &[AnsweredStep]) -> Result<bool> {
        if !self.has(NoisePart::Ending) || steps.iter().all(|step| step.answer.is_none()) {
            return Ok(false);
        }
        let task = EnoughTask { question: self.session.question().to_owned(), steps: steps.to_vec() };
        let Some(said) = self.session.perform::<EnoughSkill>(&task).await? else { return Ok(false) };
        self.gathered.plan.missing.extend(said.missing);
        Ok(said.is_enough)
    }

    fn search(&self, is_guessed: bool) -> PartSearch {
        PartSearch { strategy: Arc::clone(&self.noise.parts), judged: self.judged(), is_guessed }
    }

    fn take(&mut self, part: AnsweredPart, round: u32) {
        self.gathered.plan.notes.extend(part.note(round));
        for passage in part.relevant {
            if !self.gathered.plan.relevant.contains(&passage) {
                self.gathered.plan.relevant.push(passage);
            }
        }
        let ledger = &mut self.gathered.whole.ledger;
        ledger.asked.extend(part.trace.asked.iter().cloned());
        ledger.notes.extend(part.problem);
        self.gathered.parts.push(part.trace);
        self.gathered.lists.extend(part.list);
    }
}
