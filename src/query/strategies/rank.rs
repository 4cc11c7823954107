//! `rank`: Personalised `PageRank` over passages and the entities that connect them (`HippoRAG`).
//!
//! The walker starts at an entity that the question names, rarer ones more often, or, usually, at one of the passages
//! that `hybrid` ranks first, in proportion to its score above the last of them. Recall in the first 2 / 5 / 10 on the
//! bundles of `docs/figures.md`, none of which was held out:
//!
//! | damping, share of entities | 2wiki-hippo | musique-dev | hotpot-dev |
//! |---|---|---|---|
//! | **0.85, 0.3** | 61.5 / 82.4 / 94.1 | 42.1 / 56.2 / 67.7 | 66.2 / 84.7 / 95.3 |
//! | 0.85, 0.5 | 60.1 / 82.8 / 94.1 | 40.0 / 55.3 / 65.8 | 65.6 / 84.1 / 96.2 |
//! | 0.7, 0.3 | 60.8 / 76.9 / 90.3 | 41.2 / 55.6 / 66.4 | 68.1 / 85.0 / 95.6 |
//! | 0.5, 0.3 | 60.5 / 71.0 / 80.9 | 39.5 / 53.0 / 65.4 | 66.9 / 84.4 / 92.8 |
//! | `hybrid`, no walk | 61.2 / 67.5 / 71.5 | 38.9 / 52.6 / 60.7 | 65.6 / 82.2 / 90.0 |

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::domain::{EntryVertex, Ledger};
use crate::error::{Error, Result};
use crate::graph::ordinal::{EntityOrdinal, Ordinal as _, PassageOrdinal};
use crate::graph::page_rank::{NameGraph, PageRankOptions, Restart};
use crate::graph::top;
use crate::query::options::StrategyKind;
use crate::query::pieces::near_equal;
use crate::query::retrievers::flat::hybrid_scores;
use crate::query::retrievers::{Needs, Retriever, Retrieving};
use crate::query::session::Session;
use crate::query::session::query::{Query, Ranking, on_cpu};
use crate::store::{Follow, OfAll, spelling};
use crate::text::counted;

/// See the top of this file.
#[derive(Debug, Clone, Copy)]
pub struct Rank {
    /// The probability to continue rather than to restart.
    pub damping: f32,
    /// The share of beginnings at entities that the question names; the rest begin at passages.
    pub entity_share: f32,
}

impl Default for Rank {
    fn default() -> Self {
        Self { damping: 0.85, entity_share: 0.3 }
    }
}

/// Passages that the walker begins at.
const PASSAGES: usize = 20;
/// Rounds at most.
const ROUNDS_MAX: u32 = 50;
/// The change of all ranks together with which it ends.
const CHANGE_MIN: f64 = 1e-4;

impl Retriever for Rank {
    fn name(&self) -> &'static str {
        StrategyKind::Rank.name()
    }

    fn needs(&self) -> Needs {
        Needs { follow: Follow::Names, of_all: OfAll::Names, ..Needs::default() }
    }

    fn room(&self) -> usize {
        near_equal::ROOM
    }

    fn retrieve<'a>(&'a self, _: &'a Session, query: &'a Arc<Query>, count: usize) -> Retrieving<'a> {
        let (settings, own) = (*self, Arc::clone(query));
        Box::pin(on_cpu(query, move |_| ranked(settings, &own, count)))
    }
}

fn ranked(settings: Rank, query: &Arc<Query>, count: usize) -> Result<Ranking> {
    needs_all(query, StrategyKind::Rank)?;
    let graph = query.reader.graph();
    // For an excerpt too: the walker passes through passages that were not fetched.
    let admitted = query.admitted()?;
    let is_admitted = |passage: PassageOrdinal| admitted.is_none_or(|admitted| admitted[passage.index()]);
    let of_admitted;
    let network = if admitted.is_none() {
        query.networks().names(graph)
    } else {
        of_admitted = NameGraph::of(graph, is_admitted);
        &of_admitted
    };
    let (entities, passages) = (named(query, network), best_passages(query)?);
    let share = f64::from(settings.entity_share.clamp(0.0, 1.0));
    let mut restart =
        Restart { passages: vec![0.0; graph.passage_count()], entities: vec![0.0; graph.entity_documents.len()] };
    for (entity, weight) in &entities {
        restart.entities[entity.index()] = share * weight;
    }
    // If the question names no entity, the walker always starts at passages.
    let rest = if entities.is_empty() { 1.0 } else { 1.0 - share };
    for (passage, weight) in &passages {
        restart.passages[passage.index()] = rest * weight;
    }
    let damping = f64::from(settings.damping.clamp(0.0, 1.0));
    let options = PageRankOptions { damping, rounds_max: ROUNDS_MAX, change_min: CHANGE_MIN };
    let found = network.page_rank(&restart, &options);
    let scored = graph.passages().zip(&found.passages).filter(|(passage, rank)| **rank > 0.0 && is_admitted(*passage));
    let mut ranked = top::best(scored.map(|(passage, rank)| (passage, *rank as f32)), count);
    let query = &query.with(&ranked.iter().map(|it| it.0).collect::<Vec<_>>())?;
    ranked.retain(|it| query.is_allowed(it.0));
    let names = entities.iter().map(|(entity, _)| spelling(query.reader.as_ref(), *entity));
    let names: Vec<String> = names.collect::<Result<_>>()?;
    let mut ledger = Ledger { entry: entry(query, &passages), ..query.new_ledger() };
    ledger.notes.push(format!(
        "began at {} and at {}; {}",
        if names.is_empty() { "no entity".to_owned() } else { names.join(", ") },
        counted(passages.len(), "passage"),
        counted(u64::from(found.rounds), "round"),
    ));
    Ok(Ranking { query: Arc::clone(query), ranked, paths: FxHashMap::default(), ledger })
}

/// Refuses strategies that need the complete structure of a version if that stays in a database.
///
/// # Errors
///
/// [`Error::WalkedByNeo4j`] if it does.
pub(super) fn needs_all(query: &Query, kind: StrategyKind) -> Result<()> {
    if query.reader.is_all() {
        return Ok(());
    }
    Err(Error::WalkedByNeo4j { needed: format!("`{kind}`") })
}

/// Returns the entities that the question names and that join passages, by how rare they are; all weights sum to 1.
fn named(query: &Query, network: &NameGraph) -> Vec<(EntityOrdinal, f64)> {
    let graph = query.reader.graph();
    let documents = graph.document_count() as f64;
    let rarity = |entity: EntityOrdinal| (1.0 + documents / f64::from(graph.entity_documents[entity].max(1))).ln();
    let mut entities: Vec<EntityOrdinal> = query.entities().iter().copied().filter(|it| network.joins(*it)).collect();
    entities.sort_unstable();
    let all: f64 = entities.iter().map(|it| rarity(*it)).sum();
    entities.into_iter().map(|entity| (entity, rarity(entity) / all)).collect()
}

/// Returns the best passages of `hybrid` that may be shown, by how far they stand out; all weights sum to 1.
fn best_passages(query: &Query) -> Result<Vec<(PassageOrdinal, f64)>> {
    let scores = hybrid_scores(query)?;
    let allowed = query.reader.graph().passages().zip(scores).filter(|it| query.is_allowed(it.0));
    let best = top::best(allowed, PASSAGES);
    let last = best.last().map_or(0.0, |it| it.1);
    let gap = |score: f32| f64::from(score - last);
    let all: f64 = best.iter().map(|it| gap(it.1)).sum();
    if all > 0.0 {
        return Ok(best
            .into_iter()
            .map(|(passage, score)| (passage, gap(score) / all))
            .filter(|it| it.1 > 0.0)
            .collect());
    }
    // None stands out.
    let share = 1.0 / best.len().max(1) as f64;
    Ok(best.into_iter().map(|(passage, _)| (passage, share)).collect())
}

fn entry(query: &Query, passages: &[(PassageOrdinal, f64)]) -> Vec<EntryVertex> {
    let scored: Vec<(PassageOrdinal, f32)> =
        passages.iter().map(|(passage, weight)| (*passage, *weight as f32)).collect();
    query.entry(&scored, "hybrid")
}
