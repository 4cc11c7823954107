//! `dual`: `DualRAG`. Round by round, a reasoner says what is known and what is missing; an identifier names the
//! entities that this is about, each with queries; what they find is summarized into notes; and the notes are kept in
//! an outline that grows, under the entity that they are about. The answer is written from the outline, with the
//! passages that its notes were read in.
//!
//! Where ours differs from the paper or its code:
//!
//! - Entities are the index's: a name that a document bears, by title or otherwise, is that document's heading,
//!   whatever it is called, and else the model says which heading is the same. (The code compares strings.)
//! - A passage is read once for an entity, and a summary that its passages do not bear out is refused. Where there is
//!   none, the sentence nearest to the queries is noted by rule; such notes lead on, and no answer is written from
//!   them.
//! - A reranker, if one is asked for, judges the passages of a query by the query. (The code: by the entity's name.)
//! - It ends: after five rounds, where no query is new, after two rounds without a new note, or where the reasoner
//!   gives nothing usable. (The code tries again for ever.)
//! - The whole question's passages are always found too, and put together with those of the queries.
//!
//! Without a model it is `trail`: who reasons by rule would invent what is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::gathering::Gathering;
use super::pipeline::Pipeline;
use super::{Finding, Found, Strategy};
use crate::domain::{AnsweredBy, Hit, PassageId, PlanEnd, PlanNote, SubQuestionTrace, Verdict};
use crate::error::Result;
use crate::graph::ordinal::Ordinal as _;
use crate::query::options::{Preset, RerankedBy, SearchOptions, StrategyKind};
use crate::query::pieces::decompose::Decompose;
use crate::query::pieces::fuse::{RankedList, interleaved};
use crate::query::pieces::pick::found_passages;
use crate::query::pieces::relevance::by_verdicts;
use crate::query::pieces::rerank::Rerank;
use crate::query::session::Session;
use crate::query::session::query::Query;
use crate::skill::{
    DIGESTED_MAX, Digest, DigestSkill, DigestTask, Need, NotedHeading, ReasonSkill, ReasonTask, Reasoned, SeekSkill,
    SeekTask, digest_by_rule,
};
use crate::text::tokens;

/// Rounds, unless options say otherwise.
const ROUNDS: u32 = 5;
/// Entities of a round that are looked up at one time.
const AT_ONCE: usize = 4;
/// Passages that are found for a query.
const QUERY_PASSAGES: usize = 20;
/// Passages of a query that a ledger names.
const PASSAGES_SHOWN: usize = 5;
/// Rounds in a row without a new note that end a search.
const STALE_MAX: u32 = 2;

/// See the top of this file.
#[derive(Clone)]
pub struct Dual {
    /// Rounds at most.
    pub rounds: u32,
    /// How the lists of queries are put together with that of the whole question.
    pub preset: Preset,
    /// What finds passages for the whole question.
    pub whole: Arc<dyn Strategy>,
    /// What finds passages for a query.
    pub queries: Arc<dyn Strategy>,
}

impl Dual {
    /// Returns what `options` ask for: the whole question by `trail`, queries by what passages say themselves; with the
    /// settings of the paper, both by `dense`. What a query finds is reranked where options say so.
    #[must_use]
    pub fn of(options: &SearchOptions) -> Self {
        let kind = if options.preset == Preset::Paper { StrategyKind::Dense } else { StrategyKind::Trail };
        let own = SearchOptions { strategy: kind, n_hop: None, ..options.clone() };
        let rerank = options.rerank.filter(|_| options.reranked_by == RerankedBy::Reranker);
        let rerank = rerank.map(|count| Rerank { count, by: options.reranked_by });
        Self {
            rounds: options.n_hop.unwrap_or(ROUNDS),
            preset: options.preset,
            whole: Arc::new(Pipeline::of(&own)),
            queries: Arc::new(Pipeline { rerank, ..Decompose::plain(&own) }),
        }
    }

    async fn found(&self, session: &Session) -> Result<Found> {
        let (gathered, is_promising) = Gathering::begin(self.whole.as_ref(), session).await?;
        let mut work = Work {
            dual: self,
            session,
            gathered,
            outline: Outline::default(),
            thoughts: Vec::new(),
            asked: Vec::new(),
            digests: 0,
        };
        if is_promising && session.has_model() {
            work.gathered.plan.end = work.reasoned().await?;
        }
        Ok(work.gathered.ended(session, self.preset))
    }
}

impl Strategy for Dual {
    fn name(&self) -> &str {
        StrategyKind::Dual.name()
    }

    fn find<'a>(&'a self, session: &'a Session) -> Finding<'a> {
        Box::pin(self.found(session))
    }
}

/// What was noted, under the entities that it is about.
#[derive(Default)]
struct Outline {
    headings: Vec<Heading>,
    /// The place of each heading, by what identifies its entity.
    places: BTreeMap<String, usize>,
}

struct Heading {
    name: String,
    notes: Vec<PlanNote>,
    /// Passages that were read about it.
    read: BTreeSet<PassageId>,
}

impl Outline {
    fn shown(&self) -> Vec<NotedHeading> {
        let shown = |heading: &Heading| NotedHeading {
            name: heading.name.clone(),
            notes: heading.notes.iter().map(|note| note.text.clone()).collect(),
        };
        self.headings.iter().map(shown).collect()
    }

    /// Returns the place of the heading that an entity has, made now where it has none.
    fn place(&mut self, need: &Need, key: String) -> usize {
        let known = self.places.get(&key).copied().or(need.heading.filter(|it| *it < self.headings.len()));
        let place = known.unwrap_or_else(|| {
            let (notes, read) = (Vec::new(), BTreeSet::new());
            self.headings.push(Heading { name: need.entity.clone(), notes, read });
            self.headings.len() - 1
        });
        self.places.insert(key, place);
        place
    }
}

/// Returns what identifies an entity: a document that bears the name, or else the folded name.
fn key(query: &Query, name: &str) -> String {
    let folded = tokens(name).join(" ");
    let graph = query.reader.graph();
    let bearers = graph.entities(&folded).flat_map(|entity| graph.entity_bearers.of(entity));
    let documents: BTreeSet<_> = bearers.map(|bearer| graph.bearer_document[bearer]).collect();
    // A name that several documents bear tells none of them.
    match documents.first().filter(|_| documents.len() == 1) {
        Some(document) => format!("document {}", document.number()),
        None => folded,
    }
}

/// A question on its way.
struct Work<'a> {
    dual: &'a Dual,
    session: &'a Session,
    gathered: Gathering,
    outline: Outline,
    thoughts: Vec<String>,
    asked: Vec<String>,
    /// Notes that were to be made so far.
    digests: u32,
}

impl Work<'_> {
    async fn reasoned(&mut self) -> Result<PlanEnd> {
        let mut stale = 0;
        for round in 0..self.dual.rounds {
            let Some(Reasoned { known, missing, is_enough }) = self.reason(round).await? else {
                return Ok(PlanEnd::NoModel);
            };
            self.thoughts.push(known);
            if is_enough {
                return Ok(PlanEnd::Sufficient);
            }
            let needs = self.sought(round, missing).await?;
            if needs.is_empty() {
                return Ok(PlanEnd::NoNewQuestion);
            }
            self.gathered.plan.rounds = round + 1;
            let noted = self.looked_up(needs, round).await?;
            stale = if noted == 0 { stale + 1 } else { 0 };
            if stale == STALE_MAX {
                return Ok(PlanEnd::NothingFound);
            }
        }
        Ok(PlanEnd::Rounds)
    }

    /// Returns what the reasoner says; at first, that the question itself is missing where it says nothing.
    async fn reason(&self, round: u32) -> Result<Option<Reasoned>> {
        self.session.enter("waiting for the language model to reason");
        let question = self.session.question().to_owned();
        let task = ReasonTask { question, outline: self.outline.shown(), thoughts: self.thoughts.clone() };
        let said = self.session.perform::<ReasonSkill>(&task).await?;
        let first = |question| Reasoned { known: String::new(), missing: vec![question], is_enough: false };
        Ok(said.or_else(|| (round == 0 && self.session.may_call()).then(|| first(task.question))))
    }

    /// Returns what to look up, with queries that are new; what is missing as it is, where the model does not say it.
    async fn sought(&mut self, round: u32, missing: Vec<String>) -> Result<Vec<Need>> {
        let (question, outline) = (self.session.question().to_owned(), self.outline.shown());
        let task = SeekTask { question, round, outline, missing, asked: self.asked.clone() };
        let said = self.session.perform::<SeekSkill>(&task).await?;
        let as_it_is = |it: &String| Need { entity: it.clone(), heading: None, queries: vec![it.clone()] };
        let mut needs = said.unwrap_or_else(|| task.missing.iter().map(as_it_is).collect());
        self.gathered.plan.missing.extend(task.missing);
        for need in &mut needs {
            need.queries.retain(|query| {
                let is_new = self.asked.iter().all(|asked| tokens(asked) != tokens(query));
                if is_new {
                    self.asked.push(query.clone());
                }
                is_new
            });
        }
        needs.retain(|need| !need.queries.is_empty());
        Ok(needs)
    }

    /// Looks up the entities of a round side by side, and returns how many new notes there are.
    async fn looked_up(&mut self, needs: Vec<Need>, round: u32) -> Result<usize> {
        let session = self.session;
        session.enter("looking up what is missing");
        let mut tasks = Vec::new();
        for need in needs {
            let key = match &self.gathered.whole.ranking {
                Some(ranking) => key(&ranking.query, &need.entity),
                None => tokens(&need.entity).join(" "),
            };
            let heading = self.outline.place(&need, key);
            let read = self.outline.headings[heading].read.clone();
            let queries = Arc::clone(&self.dual.queries);
            tasks.push(LookUp { heading, number: self.digests, need, read, queries });
            self.digests += 1;
        }
        let at_once = session.at_once(AT_ONCE);
        let found = session.each(tasks, at_once, |session, task: LookUp| task.done(session)).await?;
        Ok(found.into_iter().map(|found| self.take(found, round + 1)).filter(|is_noted| *is_noted).count())
    }

    /// Takes what was looked up, and returns whether it was noted.
    fn take(&mut self, found: LookedUp, round: u32) -> bool {
        let LookedUp { heading, need, hits, digest, problems } = found;
        self.gathered.whole.ledger.asked.extend(need.queries.iter().cloned());
        self.gathered.whole.ledger.notes.extend(problems);
        self.gathered.parts.push(SubQuestionTrace {
            text: need.entity.clone(),
            asked: need.queries.clone(),
            answers: Vec::new(),
            found: hits.iter().map(|hit| hit.passage).take(PASSAGES_SHOWN).collect(),
        });
        let heading = &mut self.outline.headings[heading];
        heading.read.extend(hits.iter().take(DIGESTED_MAX).map(|hit| hit.passage));
        let by = digest.as_ref().map(|(by, _)| *by);
        let cited: Vec<PassageId> = digest.iter().flat_map(|(_, digest)| digest.passages.iter().copied()).collect();
        let is_noted = digest.is_some();
        if let Some((by, Digest { text, passages })) = digest {
            let note = PlanNote { about: heading.name.clone(), text, by, passages, round };
            heading.notes.push(note.clone());
            self.gathered.plan.notes.push(note);
        }
        let is_by_model = by == Some(AnsweredBy::Model);
        if is_by_model {
            self.gathered.plan.relevant.extend(cited.iter().copied());
        }
        let verdict = |hit: &Hit| if cited.contains(&hit.passage) { Verdict::Necessary } else { Verdict::Irrelevant };
        let verdicts: Vec<Verdict> = hits.iter().map(verdict).collect();
        let hits = if is_by_model { by_verdicts(hits, &verdicts).hits } else { hits };
        let question = need.queries.join(" ");
        self.gathered.lists.push(RankedList { form: 0, is_guessed: !is_by_model, question, hits });
        is_noted
    }
}

/// An entity that is to be looked up.
struct LookUp {
    heading: usize,
    number: u32,
    need: Need,
    read: BTreeSet<PassageId>,
    queries: Arc<dyn Strategy>,
}

/// An entity that was looked up.
struct LookedUp {
    heading: usize,
    need: Need,
    /// Passages that were not read before, best first.
    hits: Vec<Hit>,
    digest: Option<(AnsweredBy, Digest)>,
    /// What could not be searched for, and why.
    problems: Vec<String>,
}

impl LookUp {
    async fn done(self, session: Session) -> Result<LookedUp> {
        let Self { heading, number, need, read, queries } = self;
        let (mut lists, mut problems) = (Vec::new(), Vec::new());
        let searching = session.without_model().with_top_k(QUERY_PASSAGES);
        for query in &need.queries {
            match session.in_time(searching.ask(query, queries.as_ref())).await {
                Some(Ok(found)) => {
                    let hits = found.hits;
                    lists.push(RankedList { form: 0, is_guessed: false, question: query.clone(), hits });
                }
                Some(Err(error)) => problems.push(format!("`{query}` could not be searched for: {error}")),
                None => problems.push(format!("`{query}` could not be searched for in time")),
            }
        }
        let mut hits = interleaved(lists);
        hits.retain(|hit| !read.contains(&hit.passage));
        for (hit, rank) in hits.iter_mut().zip(1..) {
            (hit.rank, hit.score) = (rank, 1.0 / (1.0 + rank as f32));
        }
        let passages = found_passages(&hits, DIGESTED_MAX);
        let about = format!("{}: {}", need.entity, need.queries.join(" "));
        let task = DigestTask { question: session.question().to_owned(), number, about, passages };
        let digest = if task.passages.is_empty() {
            None
        } else {
            match session.perform::<DigestSkill>(&task).await? {
                Some(said) => said.map(|digest| (AnsweredBy::Model, digest)),
                None => digest_by_rule(&task).map(|digest| (AnsweredBy::Rule, digest)),
            }
        };
        Ok(LookedUp { heading, need, hits, digest, problems })
    }
}
