//! `level`: `LevelRAG`. On the high level, a decomposer names the sub-questions that can be asked now, each is looked
//! up and noted in a sentence or two, and a supplement asks for what is still missing, until the notes suffice. On the
//! low level, searchers look up a question concurrently, each with queries of its own: a sparse one with a tree of
//! keywords, a dense one with the question's vector. If the results do not answer the question, they refine: for the
//! sparse one, the model rewrites the keywords, then extends, emphasizes and filters the tree; for the dense one, it
//! imagines a passage to compare with.
//!
//! Where ours differs from the paper or its code:
//!
//! - A note verifies a look-up: if the passages do not answer the question, there is no note, and the searchers refine.
//!   (The paper verifies each search in a separate call.) A note that its passages do not support is refused.
//! - A rule makes the first keywords; if they fail, the model makes others.
//! - The tree is changed as a tree. (The code changes a string whose operators are never parsed.) One call gives a
//!   keyword for each of the three changes; `beam` trees are followed, `depth` times.
//! - All results are kept. (The code returns those of the last query.)
//! - Verification and supplement are one call. (So they are in the code.)
//! - Four rounds at most, fewer if no question is new. (The code: 100.)
//! - Passages for the whole question are always included, fused with those of its parts.
//! - The web is searched only if a server is named (`--web-search`), once for each unchanged sub-question, or for the
//!   whole question if nothing promising was found or it could not be split. Its results are kept apart: they are not
//!   passages, no note is made from them, and an answer cites them under numbers of their own. (In the paper, snippets
//!   are contexts like passages.)
//!
//! Without a model it is `trail`, with a web search for the question.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::gathering::Gathering;
use super::pipeline::Pipeline;
use super::{Finding, Found, Strategy};
use crate::domain::PlanEnd;
use crate::error::Result;
use crate::query::options::{Preset, SearchOptions, StrategyKind};
use crate::query::pieces::low_level::LowLevel;
use crate::query::pieces::noted::Looked;
use crate::query::session::Session;
use crate::query::session::web::UNSEARCHED;
use crate::skill::{AnsweredStep, DecomposeSkill, DecomposeTask, SubQuestion, SupplementSkill, SupplementTask};
use crate::text::{counted, tokens};

/// Rounds, unless options say otherwise.
const ROUNDS: u32 = 4;
/// Sub-questions that are looked up in all.
const QUESTIONS_MAX: usize = 8;
/// Sub-questions that are looked up at once.
const AT_ONCE: usize = 4;
/// Rounds in a row without a new note that end a search.
const STALE_MAX: u32 = 2;

/// See the top of this file.
#[derive(Clone)]
pub struct Level {
    /// Rounds at most.
    pub rounds: u32,
    /// How often the searchers refine for one question, at most.
    pub depth: u32,
    /// Trees of keywords that the sparse searcher follows at once.
    pub beam: usize,
    /// How the lists of sub-questions are combined with that of the whole question.
    pub preset: Preset,
    /// Web searches, at most.
    pub web_searches_max: u32,
    /// What finds passages for the whole question.
    pub whole: Arc<dyn Strategy>,
}

impl Level {
    /// Returns what `options` ask for: the whole question by `trail`, two refinements, three trees at once; with the
    /// settings of the paper, the whole question by `hybrid`, three refinements and all trees.
    #[must_use]
    pub fn of(options: &SearchOptions) -> Self {
        let (kind, depth, beam) = match options.preset {
            Preset::Paper => (StrategyKind::Hybrid, 3, usize::MAX),
            Preset::Measured => (StrategyKind::Trail, 2, 3),
        };
        let own = SearchOptions { strategy: kind, n_hop: None, ..options.clone() };
        Self {
            rounds: options.n_hop.unwrap_or(ROUNDS),
            depth,
            beam,
            preset: options.preset,
            web_searches_max: options.web_searches_max,
            whole: Arc::new(Pipeline::of(&own)),
        }
    }

    async fn found(&self, session: &Session) -> Result<Found> {
        let (gathered, is_promising) = Gathering::begin(self.whole.as_ref(), session).await?;
        let is_led = is_promising && session.has_model();
        let searches = if session.has_web() { Some(self.web_searches_max) } else { None };
        let mut work = Work { level: self, session, gathered, steps: Vec::new(), searches, unsearched: 0 };
        if is_led {
            work.gathered.plan.end = work.levelled().await?;
        } else if work.may_search(0)
            && let Some(found) = session.searched_web(session.question()).await?
        {
            // There are no sub-questions: there is no model, or nothing relevant was found.
            found.note(&mut work.gathered.whole.ledger);
        }
        if work.unsearched > 0 {
            let (questions, max) = (counted(work.unsearched, "question"), self.web_searches_max);
            let note = format!("{UNSEARCHED} for {questions}: the limit of searches is {max}");
            work.gathered.whole.ledger.notes.push(note);
        }
        Ok(work.gathered.ended(session, self.preset))
    }
}

impl Strategy for Level {
    fn name(&self) -> &str {
        StrategyKind::Level.name()
    }

    fn find<'a>(&'a self, session: &'a Session) -> Finding<'a> {
        Box::pin(self.found(session))
    }
}

/// A question on its way.
struct Work<'a> {
    level: &'a Level,
    session: &'a Session,
    gathered: Gathering,
    steps: Vec<AnsweredStep>,
    /// How many web searches are left: 0 after a failure; none without a web search.
    searches: Option<u32>,
    /// Questions for which it might have been searched otherwise.
    unsearched: u32,
}

impl Work<'_> {
    async fn levelled(&mut self) -> Result<PlanEnd> {
        let mut asked: BTreeSet<Vec<String>> = BTreeSet::new();
        let mut stale = 0;
        let mut next = if self.level.rounds == 0 { Vec::new() } else { self.roots().await? };
        for round in 0..self.level.rounds {
            next.retain(|question| asked.insert(tokens(question)));
            next.truncate(QUESTIONS_MAX.saturating_sub(self.steps.len()));
            if next.is_empty() {
                return Ok(PlanEnd::NoNewQuestion);
            }
            self.gathered.plan.rounds = round + 1;
            let noted = self.looked_up(std::mem::take(&mut next), round).await?;
            stale = if noted == 0 { stale + 1 } else { 0 };
            if stale == STALE_MAX {
                return Ok(PlanEnd::NothingFound);
            }
            if round + 1 == self.level.rounds {
                break;
            }
            next = match self.supplement(round).await? {
                Some(questions) if questions.is_empty() => return Ok(PlanEnd::Sufficient),
                Some(questions) => questions,
                None => return Ok(PlanEnd::NoModel),
            };
            self.gathered.plan.missing.extend(next.iter().cloned());
        }
        Ok(PlanEnd::Rounds)
    }

    /// Returns the sub-questions that depend on no other; the question if there are none.
    async fn roots(&self) -> Result<Vec<String>> {
        let session = self.session;
        session.enter("taking the question apart");
        let task = DecomposeTask { question: session.question().to_owned() };
        let parts = session.perform::<DecomposeSkill>(&task).await?.unwrap_or_default();
        let roots: Vec<String> =
            parts.into_iter().filter(|part| part.needs.is_empty()).map(|SubQuestion { text, .. }| text).collect();
        Ok(if roots.is_empty() { vec![task.question] } else { roots })
    }

    async fn supplement(&self, round: u32) -> Result<Option<Vec<String>>> {
        self.session.enter("waiting for the language model to find what is missing");
        let question = self.session.question().to_owned();
        let task = SupplementTask { question, round: round + 1, steps: self.steps.clone() };
        self.session.perform::<SupplementSkill>(&task).await
    }

    /// Looks up sub-questions concurrently, and returns the number of notes.
    async fn looked_up(&mut self, questions: Vec<String>, round: u32) -> Result<usize> {
        let session = self.session;
        session.enter("looking up sub-questions");
        let Level { depth, beam, .. } = *self.level;
        let first = self.steps.len() as u32;
        let task = |(place, text): (u32, String)| {
            (LowLevel { number: first + place, text, depth, beam }, self.may_search(place))
        };
        let tasks = (0..).zip(questions).map(task).collect();
        let looked = move |session: Session, (low, is_searched): (LowLevel, bool)| async move {
            let question = low.text.clone();
            let web = async { if is_searched { session.searched_web(&question).await } else { Ok(None) } };
            tokio::try_join!(low.looked_up(&session), web)
        };
        let found = session.each(tasks, session.at_once(AT_ONCE), looked).await?;
        let mut noted = 0;
        for (looked, web) in found {
            noted += usize::from(self.take(looked, round + 1));
            if let Some(web) = web {
                self.searches = self.searches.filter(|_| !web.is_failed()).map(|left| left.saturating_sub(1));
                web.note(&mut self.gathered.whole.ledger);
            }
        }
        Ok(noted)
    }

    /// Returns whether the web may be searched for another question of a round, before which there are so many.
    fn may_search(&mut self, before: u32) -> bool {
        let is_allowed = self.searches.map(|left| before < left);
        self.unsearched += u32::from(is_allowed == Some(false));
        is_allowed == Some(true)
    }

    /// Takes the result of a sub-question, and returns whether there is a note on it.
    fn take(&mut self, looked: Looked, round: u32) -> bool {
        let question = looked.text.clone();
        let answer = self.gathered.take(looked, &question, round).map(|note| note.text);
        let is_noted = answer.is_some();
        self.steps.push(AnsweredStep { question, answer });
        is_noted
    }
}
