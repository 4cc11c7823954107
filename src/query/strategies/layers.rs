//! `layers`: the hierarchy's knowledge about a question (`HiRAG`, section on `HiRetrieval`), with the passages behind
//! it.
//!
//! - Local: the `n` entities and summary entities nearest to the question, by words and vectors, over all layers.
//! - Global: their communities, those with the most of them first, then by rating.
//! - Bridge: the key entities of each of these communities in a stable order, the shortest paths between each and the
//!   next, and the relations among all entities on them.
//!
//! One budget of tokens is divided among these and the passages, in whole rows. Every row is a sentence of a passage,
//! so each can be cited.
//!
//! From a database, a question gets an excerpt: the levels are read from it, missing passages are fetched, and the
//! levels are read again, a few times. A sentence that is never fetched counts as one that has no word of the question
//! and a cosine of 0.

mod communities;
mod context;
mod nearness;
mod passages;

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::rank::needs_all;
use super::trail::Trail;
use crate::domain::{LayersEntry, LayersFound, LayersMode, Ledger, QuestionScope};
use crate::error::{Error, Result};
use crate::graph::bridges::Bridge;
use crate::graph::hierarchy::{Hierarchy, NONE};
use crate::graph::ordinal::{EntityOrdinal, PassageOrdinal, RelationOrdinal};
use crate::graph::paths::PathLimits;
use crate::query::evidence::scope::scope_of;
use crate::query::options::{SearchOptions, StrategyKind};
use crate::query::pieces::near_equal;
use crate::query::retrievers::{Needs, Retriever, Retrieving};
use crate::query::session::Session;
use crate::query::session::query::{Query, Ranking, on_cpu};
use crate::query::topics;
use crate::store::{Follow, OfAll};
use communities::{Chosen, communities_of};
use context::Context;
use nearness::Nearness;
use passages::behind;

/// Options of `layers`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayersOptions {
    /// Which levels are gathered.
    pub mode: LayersMode,
    /// How the hierarchy is entered.
    pub entry: LayersEntry,
    /// Entities and summary entities that it is entered by: the paper's `n`.
    pub entities: usize,
    /// Communities.
    pub communities: usize,
    /// Key entities of each: the paper's `m`.
    pub keys: usize,
    /// Paths between two key entities.
    pub paths: usize,
    /// Relations on a path at most.
    pub length_max: usize,
    /// Documents that may mention an entity for a path to lead through it; no bound without a number. Key entities
    /// have none.
    pub documents_max: Option<u32>,
    /// Tokens of the context, passages among them.
    pub tokens: usize,
    /// The shares of the tokens that entities, communities and relations may take. Passages take the rest.
    pub shares: [f32; 3],
}

impl Default for LayersOptions {
    fn default() -> Self {
        Self {
            mode: LayersMode::Full,
            entry: LayersEntry::Both,
            entities: 20,
            communities: 8,
            keys: 3,
            paths: 1,
            length_max: 6,
            documents_max: Some(25),
            tokens: 6_000,
            shares: [0.1, 0.2, 0.1],
        }
    }
}

/// The largest number of entities, communities, key entities, and paths between two, that can be requested.
pub const LAYERS_ROWS_MAX: usize = 100;
/// The largest number of tokens of a context.
pub const LAYERS_TOKENS_MAX: usize = 1_000_000;
/// Key entities of all communities together: each pair that follows each other is a search.
const KEYS_MAX: usize = 64;
/// Maximum number of relations on a path that can be requested.
const LENGTH_MAX: usize = crate::domain::PATH_LENGTH_MAX;
/// Passages of `trail` that the hierarchy is entered by at least.
const PASSAGES_MIN: usize = 20;
/// How often the levels are read from an excerpt, each time with the passages missing before.
const READINGS_MAX: usize = 4;
/// Passages that a reading lacks at most: of several hundred, the rest has little to say.
const LACKING_MAX: usize = 300;
/// Relations that may be shown, for which passages are fetched.
const RELATIONS_FETCHED_MAX: usize = 60;
/// Members of a community, the most central first, that can be key entities: as many as an undivided community has.
const MEMBERS_FETCHED_MAX: usize = 24;
/// Entities whose sentences are all read, as a multiple of those that enter the hierarchy.
const LOOKED_AT_FACTOR: usize = 3;

impl LayersOptions {
    /// Checks the bounds.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for the first value that is out of them.
    pub fn check(&self) -> Result<()> {
        let Self { entities, communities, keys, paths, length_max, tokens, .. } = *self;
        for (option, value, max) in [
            ("number of entities", entities, LAYERS_ROWS_MAX),
            ("number of communities", communities, LAYERS_ROWS_MAX),
            ("number of key entities", keys, LAYERS_ROWS_MAX),
            ("number of paths", paths, LAYERS_ROWS_MAX),
            ("length of a path", length_max, LENGTH_MAX),
            ("number of tokens", tokens, LAYERS_TOKENS_MAX),
        ] {
            if !(1..=max).contains(&value) {
                let reason = format!("give one from 1 to {max}");
                return Err(Error::Option { option, value: value.to_string(), reason });
            }
        }
        let is_share = |share: &f32| (0.0..=1.0).contains(share);
        if !self.shares.iter().all(is_share) || self.shares.iter().sum::<f32>() > 1.0 {
            let value = self.shares.map(|it| it.to_string()).join(", ");
            let reason = "each must be between 0 and 1, and so must their sum".to_owned();
            return Err(Error::Option { option: "division of the context", value, reason });
        }
        Ok(())
    }
}

/// See the top of this file.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    /// Its options.
    pub options: LayersOptions,
    /// What finds the passages that the hierarchy is entered by.
    pub trail: Trail,
}

impl Layers {
    /// Returns what `options` ask for.
    #[must_use]
    pub fn of(options: &SearchOptions) -> Self {
        Self { options: options.layers, trail: Trail::of(options) }
    }

    async fn found(&self, session: &Session, query: &Arc<Query>, count: usize) -> Result<Ranking> {
        needs_all(query, StrategyKind::Layers)?;
        let scope = scope_of(&query.question.text);
        // Where nothing is asked about, no passage is nearer to it than another.
        let is_entered_by_passages = self.options.entry != LayersEntry::Entities && scope != QuestionScope::Collection;
        let walked = if is_entered_by_passages {
            Some(self.trail.retrieve(session, query, count.max(PASSAGES_MIN)).await?)
        } else {
            None
        };
        session.enter("reading the levels of the hierarchy");
        let (options, own) = (self.options, Arc::clone(query));
        on_cpu(query, move |_| found_on_levels(own, options, scope, walked.as_ref(), count)).await
    }
}

/// Reads the levels, repeatedly if an excerpt lacks passages that they need.
fn found_on_levels(
    mut query: Arc<Query>,
    options: LayersOptions,
    scope: QuestionScope,
    walked: Option<&Ranking>,
    count: usize,
) -> Result<Ranking> {
    for reading in 1.. {
        let levels = Levels::read(&query, options, scope, walked)?;
        let lacking = if reading < READINGS_MAX { levels.lacking() } else { Vec::new() };
        tracing::debug!(reading, lacking = lacking.len(), "read the levels");
        if lacking.is_empty() {
            return levels.ranking(&query, count);
        }
        query = query.with(&lacking)?;
    }
    Err(Error::Internal("the levels were read without end".to_owned()))
}

impl Retriever for Layers {
    fn name(&self) -> &'static str {
        StrategyKind::Layers.name()
    }

    fn needs(&self) -> Needs {
        Needs { follow: Follow::Names, of_all: OfAll::Levels, ..Needs::default() }
    }

    fn room(&self) -> usize {
        near_equal::ROOM
    }

    fn retrieve<'a>(&'a self, session: &'a Session, query: &'a Arc<Query>, count: usize) -> Retrieving<'a> {
        Box::pin(self.found(session, query, count))
    }
}

/// The findings of the levels for a question, by number.
struct Levels<'a> {
    query: &'a Query,
    hierarchy: Hierarchy<'a>,
    options: LayersOptions,
    scope: QuestionScope,
    nearness: Nearness<'a>,
    walked: Option<&'a Ranking>,
    /// The entities that enter the hierarchy, the nearest first, each with its score.
    entered: Vec<(Chosen, f32)>,
    communities: Vec<communities::Counted>,
    bridges: Vec<Bridge>,
    relations: Vec<([EntityOrdinal; 2], RelationOrdinal)>,
}

impl<'a> Levels<'a> {
    fn read(
        query: &'a Query,
        options: LayersOptions,
        scope: QuestionScope,
        walked: Option<&'a Ranking>,
    ) -> Result<Self> {
        let hierarchy = query.reader.hierarchy().ok_or(Error::NoTopics)?;
        let nearness = Nearness::of(query, hierarchy)?;
        let entered = match scope {
            QuestionScope::Collection => Vec::new(),
            QuestionScope::Fact | QuestionScope::Subject => {
                let found = walked.map(|walked| walked.ranked.as_slice());
                nearness.entered(options.entry, found, options.entities)
            }
        };
        let mut levels = Self {
            communities: Vec::new(),
            bridges: Vec::new(),
            relations: Vec::new(),
            query,
            hierarchy,
            options,
            scope,
            nearness,
            walked,
            entered,
        };
        if options.mode != LayersMode::Local {
            levels.communities = communities_of(&levels.nearness, hierarchy, &levels.entered, &options);
        }
        if options.mode.has(LayersMode::Bridge) {
            levels.join_keys();
        }
        Ok(levels)
    }

    /// Finds the paths between successive key entities, and the relations among all entities on them.
    fn join_keys(&mut self) {
        let keys = self.keys();
        let (hierarchy, query) = (self.hierarchy, self.query);
        let documents_max = self.options.documents_max.unwrap_or(u32::MAX);
        let told = query.networks().told(query.reader.as_ref());
        let passes = |entity: EntityOrdinal| told.documents(entity) <= documents_max || keys.contains(&entity);
        let admits = |ends: [EntityOrdinal; 2], relation: RelationOrdinal| {
            let sentence = hierarchy.relation_sentence[relation];
            // Which document says so without a sentence is not known.
            let is_shown = match sentence.0 {
                NONE => self.nearness.admits_all(),
                _ => self.nearness.is_admitted(sentence),
            };
            is_shown && ends.into_iter().all(passes)
        };
        let network = query.networks().relations(&hierarchy).admitted(admits);
        let limits = PathLimits { paths: self.options.paths, length_max: self.options.length_max };
        let bridges = network.bridges(&keys, limits);
        let on_them: BTreeSet<EntityOrdinal> =
            bridges.iter().flat_map(|bridge| &bridge.paths).flatten().copied().collect();
        let mut relations = network.among(&on_them);
        let score = |relation: RelationOrdinal| {
            let sentence = hierarchy.relation_sentence[relation];
            let said = if sentence.0 == NONE { 0.0 } else { self.nearness.sentence(sentence) };
            (said, hierarchy.relation_weight[relation])
        };
        relations.sort_by(|a, b| {
            let (one, other) = (score(a.1), score(b.1));
            other.0.total_cmp(&one.0).then(other.1.total_cmp(&one.1)).then(a.1.cmp(&b.1))
        });
        (self.bridges, self.relations) = (bridges, relations);
    }

    /// Returns the key entities in the order of their communities, none twice.
    fn keys(&self) -> Vec<EntityOrdinal> {
        let mut keys: Vec<EntityOrdinal> = Vec::new();
        for key in self.communities.iter().flat_map(|community| &community.keys) {
            if keys.len() < KEYS_MAX && !keys.contains(key) {
                keys.push(*key);
            }
        }
        keys
    }

    /// Returns the missing passages that the levels need: those that they would show, those with sentences of entities
    /// that seem near the question, and those of possible key entities.
    fn lacking(&self) -> Vec<PassageOrdinal> {
        let reader = self.query.reader.as_ref();
        if reader.excerpt().is_none() {
            return Vec::new();
        }
        let graph = reader.graph();
        let behind = self.communities.iter().flat_map(|it| topics::behind(reader, self.hierarchy, it.community));
        let members = self.communities.iter().flat_map(|it| {
            let members = self.hierarchy.members(it.community);
            it.keys.iter().chain(members.iter().take(MEMBERS_FETCHED_MAX))
        });
        let members = members.flat_map(|it| self.nearness.sentences_of(*it));
        let related =
            self.relations.iter().take(RELATIONS_FETCHED_MAX).map(|it| self.hierarchy.relation_sentence[it.1]);
        let near = match self.scope {
            QuestionScope::Collection => Vec::new(),
            QuestionScope::Fact | QuestionScope::Subject => {
                self.nearness.sentences_of_promising(LOOKED_AT_FACTOR * self.options.entities)
            }
        };
        let shown = behind.chain(related.filter(|it| it.0 != NONE));
        let needed = shown.chain(near).chain(members).filter(|it| self.nearness.is_admitted(*it));
        let mut seen = BTreeSet::new();
        let passages = needed.map(|it| graph.sentence_passage[it]);
        passages.filter(|it| !self.query.is_allowed(*it) && seen.insert(*it)).take(LACKING_MAX).collect()
    }

    /// Returns the passages, with the rows of the levels that fit in the context.
    fn ranking(self, own: &Arc<Query>, count: usize) -> Result<Ranking> {
        let ranked = behind(&self, count)?;
        let layers = Context::of(&self)?;
        let (paths, mut ledger) = if let Some(walked) = self.walked {
            (walked.paths.clone(), walked.ledger.clone())
        } else {
            let entry = self.query.entry(&ranked, "entity");
            (FxHashMap::default(), Ledger { entry, ..self.query.new_ledger() })
        };
        let kept: BTreeSet<PassageOrdinal> = ranked.iter().map(|it| it.0).collect();
        ledger.notes.extend(said(&layers));
        ledger.layers = Some(Box::new(layers));
        let paths = paths.into_iter().filter(|(passage, _)| kept.contains(passage)).collect();
        Ok(Ranking { query: Arc::clone(own), ranked, paths, ledger })
    }
}

/// Notes what did not fit, and which key entities are not connected.
fn said(found: &LayersFound) -> Vec<String> {
    let mut notes = Vec::new();
    let cut: Vec<String> = found
        .context
        .iter()
        .filter(|share| share.cut > 0)
        .map(|share| format!("{} of {} {}", share.cut, share.cut + share.rows, share.level))
        .collect();
    if !cut.is_empty() {
        notes.push(format!("the context has no room for {}", cut.join(", ")));
    }
    let apart = found.bridges.iter().filter(|bridge| bridge.paths.is_empty()).count();
    if apart > 0 {
        notes.push(format!("{apart} of {} pairs of key entities are not connected", found.bridges.len()));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_out_of_their_bounds_are_refused() {
        let options = LayersOptions::default();
        options.check().unwrap();
        for refused in [
            LayersOptions { entities: 0, ..options },
            LayersOptions { communities: LAYERS_ROWS_MAX + 1, ..options },
            LayersOptions { length_max: LENGTH_MAX + 1, ..options },
            LayersOptions { tokens: 0, ..options },
            LayersOptions { shares: [0.5, 0.4, 0.2], ..options },
            LayersOptions { shares: [-0.1, 0.0, 0.0], ..options },
            LayersOptions { shares: [f32::NAN, 0.0, 0.0], ..options },
        ] {
            assert!(matches!(refused.check(), Err(Error::Option { .. })), "{refused:?}");
        }
    }
}
