//! `dual`: `DualRAG`. In each round, a reasoner says what is known and what is missing; an identifier names the
//! entities concerned, each with queries; the results are summarized into notes; and the notes are kept in a growing
//! outline, under their entity. The answer is written from the outline, with the passages behind its notes.
//!
//! Where ours differs from the paper or its code:
//!
//! - Entities are those of the index: all names of one, as `cairn entities` shows them, share a heading; for other
//!   names, the model says which heading is the same. (The code compares strings.)
//! - A passage is read once per entity, and a summary that its passages do not support is refused. Without a summary, a
//!   rule notes the sentence nearest to the queries; such notes serve the search, but no answer is written from them.
//! - A reranker, if there is one, scores passages against their query. (The code: against the entity's name.)
//! - It ends after five rounds, when no query is new, after two rounds without a new note, or when the reasoner gives
//!   nothing usable. (The code retries forever.)
//! - Passages for the whole question are always included, fused with those of the queries.
//!
//! Without a model, it is `trail`: no rule can reason about what is missing without inventing it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::gathering::Gathering;
use super::pipeline::Pipeline;
use super::{Finding, Found, Strategy};
use crate::domain::{PassageId, PlanEnd, PlanNote};
use crate::error::Result;
use crate::graph::ordinal::{DocumentOrdinal, EntityOrdinal, Ordinal as _};
use crate::graph::resolution::Resolution;
use crate::query::options::{Preset, RerankedBy, SearchOptions, StrategyKind};
use crate::query::pieces::decompose::Decompose;
use crate::query::pieces::fuse::{RankedList, by_place, interleaved};
use crate::query::pieces::noted::{Looked, noted};
use crate::query::pieces::pick::found_passages;
use crate::query::pieces::rerank::Rerank;
use crate::query::pieces::smaller::searched;
use crate::query::session::Session;
use crate::skill::{
    DIGESTED_MAX, DigestTask, Need, NotedHeading, ReasonSkill, ReasonTask, Reasoned, SeekSkill, SeekTask,
};
use crate::store::GraphReader;
use crate::text::tokens;

/// Rounds, unless options say otherwise.
const ROUNDS: u32 = 5;
/// Entities of a round that are looked up at once.
const AT_ONCE: usize = 4;
/// Passages that are found for a query.
const QUERY_PASSAGES: usize = 20;
/// Rounds in a row without a new note that end a search.
const STALE_MAX: u32 = 2;

/// See the top of this file.
#[derive(Clone)]
pub struct Dual {
    /// Rounds at most.
    pub rounds: u32,
    /// How the lists of queries are combined with that of the whole question.
    pub preset: Preset,
    /// What finds passages for the whole question.
    pub whole: Arc<dyn Strategy>,
    /// What finds passages for a query.
    pub queries: Arc<dyn Strategy>,
}

impl Dual {
    /// Returns the settings of `options`: the whole question by `trail`, queries without a walk; with the settings of
    /// the paper, both by `dense`. The results of a query are reranked if options say so.
    #[must_use]
    pub fn of(options: &SearchOptions) -> Self {
        let kind = if options.preset == Preset::Paper { StrategyKind::Dense } else { StrategyKind::Trail };
        let own = SearchOptions { strategy: kind, n_hop: None, ..options.clone() };
        let rerank = options.rerank.filter(|_| options.reranked_by != RerankedBy::Model);
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

/// The notes, under their entities.
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

    /// Returns the place of an entity's heading, added if absent.
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

/// Returns the identity of an entity: the entity of the index that the name stands for, or else the folded name.
fn key(reader: &dyn GraphReader, name: &str) -> String {
    let folded = tokens(name).join(" ");
    let entity = reader.graph().entity(&folded);
    let key = entity.and_then(|entity| match reader.resolution() {
        Some(resolution) => one(referents(reader, &resolution, entity)).map(|it| format!("entity {}", it.number())),
        None => one(bearing(reader, &folded)).map(|it| format!("document {}", it.number())),
    });
    key.unwrap_or(folded)
}

/// Returns the entities that a name stands for in mentions and as the name of a document.
fn referents(reader: &dyn GraphReader, resolution: &Resolution, entity: EntityOrdinal) -> BTreeSet<EntityOrdinal> {
    let graph = reader.graph();
    let mentions = graph.posting_passage.of(graph.entity_mentions.of(entity)).iter();
    let mentioning = mentions.map(|passage| graph.passage_document[*passage]);
    let bearing = graph.bearer_document.of(graph.entity_bearers.of(entity)).iter().copied();
    mentioning.chain(bearing).map(|document| resolution.canonical(entity, document)).collect()
}

/// Returns the documents with a folded name.
fn bearing(reader: &dyn GraphReader, folded: &str) -> BTreeSet<DocumentOrdinal> {
    let graph = reader.graph();
    let bearers = graph.entities(folded).flat_map(|entity| graph.entity_bearers.of(entity));
    bearers.map(|bearer| graph.bearer_document[bearer]).collect()
}

/// Returns the only one; none if the name is ambiguous.
fn one<T>(all: BTreeSet<T>) -> Option<T> {
    let is_one = all.len() == 1;
    all.into_iter().next().filter(|_| is_one)
}

/// A question in progress.
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

    /// Returns the reasoner's conclusion; in the first round, if there is none, that the question itself is missing.
    async fn reason(&self, round: u32) -> Result<Option<Reasoned>> {
        self.session.enter("waiting for the language model to reason");
        let question = self.session.question().to_owned();
        let task = ReasonTask { question, outline: self.outline.shown(), thoughts: self.thoughts.clone() };
        let said = self.session.perform::<ReasonSkill>(&task).await?;
        let first = |question| Reasoned { known: String::new(), missing: vec![question], is_enough: false };
        Ok(said.or_else(|| (round == 0 && self.session.may_call()).then(|| first(task.question))))
    }

    /// Returns the entities to look up, with new queries; if the model names none, the missing piece itself.
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

    /// Looks up the entities of a round concurrently, and returns the number of new notes.
    async fn looked_up(&mut self, needs: Vec<Need>, round: u32) -> Result<usize> {
        let session = self.session;
        session.enter("looking up what is missing");
        let mut tasks = Vec::new();
        for need in needs {
            let key = match &self.gathered.whole.ranking {
                Some(ranking) => key(ranking.query.reader.as_ref(), &need.entity),
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

    /// Takes a look-up, and returns whether there is a note on it.
    fn take(&mut self, (heading, looked): (usize, Looked), round: u32) -> bool {
        let heading = &mut self.outline.headings[heading];
        heading.read.extend(looked.hits.iter().take(DIGESTED_MAX).map(|hit| hit.passage));
        let note = self.gathered.take(looked, &heading.name, round);
        let is_noted = note.is_some();
        heading.notes.extend(note);
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

impl LookUp {
    /// Finds new passages and makes a note from them; returns it with its heading.
    async fn done(self, session: Session) -> Result<(usize, Looked)> {
        let Self { heading, number, need: Need { entity, queries: asked, .. }, read, queries } = self;
        let (mut lists, mut problems) = (Vec::new(), Vec::new());
        let searching = session.without_model().with_top_k(QUERY_PASSAGES);
        for query in &asked {
            match searched(&session, format!("`{query}`"), searching.ask(query, queries.as_ref())).await {
                Ok(found) => {
                    let hits = found.hits;
                    lists.push(RankedList { form: 0, is_guessed: false, question: query.clone(), hits });
                }
                Err(missed) => problems.push(missed.problem),
            }
        }
        let mut hits = interleaved(lists);
        hits.retain(|hit| !read.contains(&hit.passage));
        let hits = by_place(hits);
        let passages = found_passages(&hits, DIGESTED_MAX);
        let about = format!("{entity}: {}", asked.join(" "));
        let task = DigestTask { question: session.question().to_owned(), number, about, passages };
        let note = noted(&session, &task).await?;
        Ok((heading, Looked { text: entity, asked, hits, note, problems }))
    }
}
