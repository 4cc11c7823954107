//! `trail`: question-guided propagation over names, shared entities and question edges.
//!
//! A passage that fits the question lends part of its score to passages that its mentions lead to. The value of an edge
//! A –e→ B is judged against the *question*: does B cover what A leaves open, do words of the question occur around the
//! mention, is the entity rare. In `HopRAG`'s words a mention is an out-coming question ("what is e?") that a passage
//! named e, or a sentence with e, answers; in `HiRAG`'s words e is an entity of layer 0 with its provenance.

mod candidates;
mod edges;
mod evidence;
mod features;
mod field;
mod forest;
mod links;
mod trust;
mod weights;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

pub use candidates::{CANDIDATES, Candidates, Leap, Setting, Substituted, TextFit};
pub use edges::{
    BEARERS_MAX, BEFORE_COMMA_WORTH, EdgeCandidate, NAMED_PASSAGES_MAX, SHARED_DOCUMENTS_MAX, SHARED_MENTIONS_MAX,
    TrailEdge, each_neighbor,
};
pub use evidence::{Evidence, TERMS_MAX, all_terms, hybrid_scores, weight};
pub use features::CandidateFeatures;
pub use forest::{Forest, TREE_LEAVES, TREE_NODES, Tree};
pub use trust::Trust;
pub use weights::{
    EdgeFeatures, EdgeWeights, PassageFeatures, PassageWeights, TrailWeights, VectorKind, WeightSet, is_titled,
};

use super::ordinal::{Ordinal as _, PassageOrdinal};
use super::packed::PassageGraph;
use super::top;
use edges::Judge;

/// How far and how wide `trail` goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrailOptions {
    /// Rounds of propagation.
    pub rounds: u32,
    /// Passages expanded in each round: the best so far.
    pub expanded: usize,
    /// Passages that frequent entities may lead to: the question's best.
    pub pool: usize,
}

impl Default for TrailOptions {
    fn default() -> Self {
        Self { rounds: 3, expanded: 8, pool: 200 }
    }
}

/// An edge that was taken, with its share of the score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    /// Its source.
    pub from: PassageOrdinal,
    /// The edge.
    pub edge: TrailEdge,
    /// p(A) · g: its addition to the score of its target.
    pub gain: f32,
}

/// One round of propagation.
#[derive(Debug, Clone, Default)]
pub struct TrailRound {
    /// The passages that were expanded, best first.
    pub expanded: Vec<PassageOrdinal>,
    /// Edges that were judged.
    pub judged: u32,
    /// The best edge into each passage that one with a gain leads to.
    pub taken: FxHashMap<PassageOrdinal, Taken>,
}

/// The result of a walk.
#[derive(Debug, Clone, Default)]
pub struct TrailWalk {
    /// The scores before the first round, by passage.
    pub seeds: Vec<f32>,
    /// The scores after the last round, by passage; −∞ for passages that may not be shown.
    pub scores: Vec<f32>,
    /// The rounds.
    pub rounds: Vec<TrailRound>,
}

/// Candidates whose spread of scores says how much a passage may lend: p is 0 at this rank and 1 at the best.
pub const LENDING_RANK: usize = 50;

/// Walks, starting from the evidence of a question about every passage.
///
/// s(B) = base(B) + max(0, max over edges A –e→ B of p(A) · g(A, e, B)), repeated;
/// p(A) = clip((s(A) − s₅₀)/(s₁ − s₅₀)).
///
/// Complexity: rounds · expanded · edges of a passage, plus a pass over all passages per round.
#[must_use]
pub fn walk(
    graph: PassageGraph<'_>,
    evidence: &Evidence<'_>,
    weights: &TrailWeights,
    options: &TrailOptions,
) -> TrailWalk {
    let mut walking = TrailWalking::begin(evidence, weights, options);
    while let Some(offers) = walking.offers(graph, evidence, weights) {
        walking.advance(offers, |_| 1.0);
    }
    walking.finish()
}

/// A walk between two rounds: [`Self::advance`] takes corrected values of edges. Each call must be given the same
/// graph, evidence and weights.
#[derive(Debug, Clone)]
pub struct TrailWalking {
    options: TrailOptions,
    base: Vec<f32>,
    pool: Vec<bool>,
    expansions: FxHashMap<PassageOrdinal, (Vec<TrailEdge>, u32)>,
    walk: TrailWalk,
}

/// The steps that may be taken in one round.
#[derive(Debug, Clone, Default)]
pub struct TrailOffers {
    expanded: Vec<PassageOrdinal>,
    judged: u32,
    offered: Vec<Taken>,
}

impl TrailOffers {
    /// Returns the best edge into each passage, where gains are multiplied by `factor`.
    #[must_use]
    pub fn taken(&self, factor: impl Fn(&Taken) -> f32) -> FxHashMap<PassageOrdinal, Taken> {
        let mut best: FxHashMap<PassageOrdinal, Taken> = FxHashMap::default();
        for offered in &self.offered {
            let taken = Taken { gain: offered.gain * factor(offered), ..*offered };
            if taken.gain > 0.0 {
                let best = best.entry(taken.edge.to).or_insert(taken);
                if taken.gain > best.gain {
                    *best = taken;
                }
            }
        }
        best
    }
}

impl TrailWalking {
    /// Begins a walk.
    #[must_use]
    pub fn begin(evidence: &Evidence<'_>, weights: &TrailWeights, options: &TrailOptions) -> Self {
        let seeds = evidence.passage_scores(&weights.seed);
        Self {
            options: *options,
            base: evidence.passage_scores(&weights.base),
            pool: pool(evidence, options.pool),
            expansions: FxHashMap::default(),
            walk: TrailWalk { scores: seeds.clone(), seeds, rounds: Vec::new() },
        }
    }

    /// Returns the steps that may be taken in the next round; none at the end.
    pub fn offers(
        &mut self,
        graph: PassageGraph<'_>,
        evidence: &Evidence<'_>,
        weights: &TrailWeights,
    ) -> Option<TrailOffers> {
        if self.walk.rounds.len() >= self.options.rounds as usize {
            return None;
        }
        let judge = Judge { graph, evidence, weights: &weights.edge, pool: &self.pool };
        let leaders = top::best_of(&self.walk.scores, LENDING_RANK);
        let (&(_, high), &(_, low)) = (leaders.first()?, leaders.last()?);
        let mut offers = TrailOffers::default();
        for &(from, score) in leaders.iter().take(self.options.expanded) {
            let lent = lent(score, low, high);
            let (edges, judged) = self.expansions.entry(from).or_insert_with(|| judge.edges(from));
            offers.expanded.push(from);
            offers.judged += *judged;
            offers.offered.extend(edges.iter().map(|edge| Taken { from, edge: *edge, gain: lent * edge.worth }));
        }
        Some(offers)
    }

    /// Takes the best edge into each passage, where gains are multiplied by `factor`.
    pub fn advance(&mut self, offers: TrailOffers, factor: impl Fn(&Taken) -> f32) {
        let taken = offers.taken(factor);
        self.walk.scores.clone_from(&self.base);
        for (to, taken) in &taken {
            self.walk.scores[to.index()] += taken.gain;
        }
        let TrailOffers { expanded, judged, .. } = offers;
        self.walk.rounds.push(TrailRound { expanded, judged, taken });
    }

    /// Ends the walk.
    #[must_use]
    pub fn finish(self) -> TrailWalk {
        self.walk
    }
}

/// Returns p(A) for a passage of this score, between the score at [`LENDING_RANK`] and the best.
#[must_use]
pub fn lent(score: f32, low: f32, high: f32) -> f32 {
    ((score - low) / (high - low + 1e-9)).clamp(0.0, 1.0)
}

/// Returns the edges that leave each of `sources`, with their features and not weighted: what weights are fitted on.
/// `options` say how many passages frequent entities may lead to.
#[must_use]
pub fn edge_candidates(
    graph: PassageGraph<'_>,
    evidence: &Evidence<'_>,
    sources: &[PassageOrdinal],
    options: &TrailOptions,
) -> Vec<Vec<EdgeCandidate>> {
    let pool = pool(evidence, options.pool);
    let weights = EdgeWeights::from(EdgeFeatures::default());
    let judge = Judge { graph, evidence, weights: &weights, pool: &pool };
    sources.par_iter().map(|source| judge.candidates(*source)).collect()
}

/// Returns whether each passage is among the question's best, by a plain sum of its evidence before the first round.
fn pool(evidence: &Evidence<'_>, size: usize) -> Vec<bool> {
    let weights = PassageWeights {
        bm25: 1.0,
        best_sentence: 1.0,
        cosine: 2.0,
        best_sentence_cosine: 2.0,
        named: 2.0,
        named_lead: 1.0,
    };
    let mut pool = vec![false; evidence.bm25.len()];
    for (passage, _) in top::best_of::<PassageOrdinal>(&evidence.passage_scores(&weights), size) {
        pool[passage.index()] = true;
    }
    pool
}

impl TrailWalk {
    /// Returns the edges that led to `passage`, first edge first; empty if it was found by its own score: no edge adds
    /// more than it has without one.
    ///
    /// The edge into a passage in one round leaves a passage that was expanded for its score of the round before.
    #[must_use]
    pub fn path(&self, passage: PassageOrdinal) -> Vec<(u32, Taken)> {
        let mut path = Vec::new();
        let mut at = passage;
        for (i, round) in self.rounds.iter().enumerate().rev() {
            let Some(taken) = round.taken.get(&at) else { break };
            if taken.gain < self.own_score(at) {
                break;
            }
            if path.iter().any(|(_, earlier): &(u32, Taken)| earlier.edge.to == taken.from) {
                break;
            }
            path.push((i as u32 + 1, *taken));
            at = taken.from;
        }
        path.reverse();
        path
    }

    /// Returns the score of a passage in the rounds without any edge.
    fn own_score(&self, passage: PassageOrdinal) -> f32 {
        let gain = self.rounds.last().and_then(|round| round.taken.get(&passage)).map_or(0.0, |taken| taken.gain);
        self.scores[passage.index()] - gain
    }
}

#[cfg(test)]
mod tests;
