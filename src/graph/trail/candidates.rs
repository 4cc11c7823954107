//! The best passages of a walk, each with all that speaks for it.

use rustc_hash::FxHashMap;

use super::edges::EdgeCandidate;
use super::features::CandidateFeatures;
use super::field::Field;
use super::links::{Best, Links};
use super::weights::TrailWeights;
use super::{Evidence, LENDING_RANK, TrailOptions, TrailWalk, edge_candidates};
use crate::graph::ordinal::{Column, EntityOrdinal, PassageOrdinal, SentenceOrdinal};
use crate::graph::packed::PassageGraph;
use crate::graph::top;
use crate::graph::vectors::Vectors;

/// Candidates that are ranked anew.
pub const CANDIDATES: usize = 30;
/// Passages that substituted questions are compared with.
const POOL: usize = 200;
/// Passages whose rank before the first round is told apart.
const SEEDS_RANKED: usize = 1_000;

/// A question against one version, with the vectors that its candidates are compared by.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The structure.
    pub graph: PassageGraph<'a>,
    /// What the question says about every passage.
    pub evidence: &'a Evidence<'a>,
    /// Cosine of each sentence; empty without an embedder.
    pub sentence_cosine: Column<'a, SentenceOrdinal, f32>,
    /// Vectors of passages.
    pub passages: Vectors<'a>,
    /// Vectors of sentences.
    pub sentences: Vectors<'a>,
}

/// What the text of a candidate says, which the structure does not hold.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TextFit {
    /// See [`CandidateFeatures::name_covered`].
    pub name_covered: f32,
    /// See [`CandidateFeatures::bigrams`].
    pub bigrams: f32,
}

/// A leap from one of the first passages over an entity: the edge of most gain over it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Leap {
    /// The passage.
    pub from: PassageOrdinal,
    /// The entity.
    pub entity: EntityOrdinal,
    /// p · g of the edge.
    pub gain: f32,
    /// The question's terms in the sentence that mentions the entity.
    pub terms: u64,
}

/// A question in which what a leap begins with is replaced by what it leads to, and how close passages are to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Substituted {
    /// The leap.
    pub leap: Leap,
    /// Cosine of the best sentence of each passage of [`Candidates::pool`].
    pub cosines: Vec<f32>,
}

/// The best passages of a walk, with the edges that leave the first of them.
pub struct Candidates {
    /// The leaders with their scores, best first: sources, candidates, and those who say how much is lent.
    pub(super) scored: Vec<(PassageOrdinal, f32)>,
    /// The lowest and the highest of these scores.
    pub(super) ends: (f32, f32),
    pub(super) edges: Vec<Vec<EdgeCandidate>>,
    pub(super) links: Links,
    pub(super) best: Vec<Best>,
    /// Places of the leaders.
    pub(super) places: FxHashMap<PassageOrdinal, usize>,
    /// 1/rank by the score before the first round, by place.
    pub(super) seed_ranks: Vec<f32>,
    pool: Vec<PassageOrdinal>,
}

impl Candidates {
    /// Collects the candidates of a walk, and the edges that leave the first of them.
    #[must_use]
    pub fn of(setting: &Setting<'_>, weights: &TrailWeights, options: &TrailOptions, walked: &TrailWalk) -> Self {
        let mut scored: Vec<(PassageOrdinal, f32)> = top::best_of(&walked.scores, POOL);
        let pool = scored.iter().map(|leader| leader.0).collect();
        scored.truncate(LENDING_RANK);
        let ends = scored.first().zip(scored.last()).map_or((0.0, 0.0), |(high, low)| (low.1, high.1));
        let sources: Vec<PassageOrdinal> = scored.iter().take(options.expanded).map(|leader| leader.0).collect();
        let edges = edge_candidates(setting.graph, setting.evidence, &sources, options);
        let links = Links::of(&edges, &scored, ends, weights);
        let seeds = top::best_of(&walked.seeds, SEEDS_RANKED);
        let seeds: FxHashMap<PassageOrdinal, usize> =
            seeds.iter().enumerate().map(|(rank, seed)| (seed.0, rank)).collect();
        let seed_rank =
            |leader: &(PassageOrdinal, f32)| 1.0 / (1 + seeds.get(&leader.0).unwrap_or(&SEEDS_RANKED)) as f32;
        Self {
            ends,
            best: edges.iter().map(|edges| Best::of(edges)).collect(),
            places: scored.iter().enumerate().map(|(place, leader)| (leader.0, place)).collect(),
            seed_ranks: scored.iter().take(CANDIDATES).map(seed_rank).collect(),
            scored,
            edges,
            links,
            pool,
        }
    }

    /// Returns the candidates, best first: at most [`CANDIDATES`].
    pub fn passages(&self) -> impl Iterator<Item = PassageOrdinal> {
        self.scored.iter().take(CANDIDATES).map(|leader| leader.0)
    }

    /// Returns the passages that substituted questions are compared with: the candidates and those after them.
    #[must_use]
    pub fn pool(&self) -> &[PassageOrdinal] {
        &self.pool
    }

    /// Returns the leaps of most gain, best first: at most `count`.
    #[must_use]
    pub fn leaps(&self, count: usize) -> Vec<Leap> {
        let mut leaps: Vec<Leap> = Vec::new();
        for (source, edges) in self.edges.iter().enumerate() {
            let mut best: FxHashMap<EntityOrdinal, Leap> = FxHashMap::default();
            for (edge, gain) in edges.iter().zip(&self.links.gains[source]) {
                let (entity, terms) = (edge.entity, edge.source_terms);
                let leap = Leap { from: self.scored[source].0, entity, gain: *gain, terms };
                let known = best.entry(edge.entity).or_insert(leap);
                if leap.gain > known.gain {
                    *known = leap;
                }
            }
            leaps.extend(best.into_values());
        }
        let order = |leap: &Leap| (leap.from, leap.entity);
        leaps.sort_unstable_by(|a, b| b.gain.total_cmp(&a.gain).then(order(a).cmp(&order(b))));
        leaps.truncate(count);
        leaps
    }

    /// Returns the features of the candidates; `fits` has what their texts say.
    ///
    /// Complexity: that of one round of the walk, beside candidates · sources.
    #[must_use]
    pub fn features(
        &self,
        setting: &Setting<'_>,
        fits: &[TextFit],
        substituted: &[Substituted],
    ) -> Vec<CandidateFeatures> {
        let field = Field::of(self, setting);
        let mut features: Vec<CandidateFeatures> =
            (0..self.scored.len().min(CANDIDATES)).map(|place| field.features(place)).collect();
        field.coverage(&mut features);
        for (features, fit) in features.iter_mut().zip(fits) {
            (features.name_covered, features.bigrams) = (fit.name_covered, fit.bigrams);
        }
        self.substitute(substituted, &mut features);
        features
    }

    /// Fills in how close candidates are to substituted questions.
    fn substitute(&self, substituted: &[Substituted], features: &mut [CandidateFeatures]) {
        let strongest = substituted.iter().map(|it| it.leap.gain).fold(0.0, f32::max).max(1e-9);
        if !substituted.is_empty() {
            for features in features.iter_mut() {
                (features.asked_anew, features.asked_anew_gap, features.asked_anew_linked_gap) = (-1.0, -2.0, -1.0);
            }
        }
        for question in substituted {
            let source = self.places.get(&question.leap.from);
            let reached = source.and_then(|place| self.links.by_source.get(*place));
            let is_linked = |passage: PassageOrdinal| reached.is_some_and(|links| links.contains_key(&passage));
            let others = self.pool.iter().zip(&question.cosines).filter(|it| *it.0 != question.leap.from);
            let best = others.clone().map(|it| *it.1).fold(-1.0, f32::max);
            let best_linked = others.clone().filter(|it| is_linked(*it.0)).map(|it| *it.1).fold(-1.0, f32::max);
            let share = (question.leap.gain / strongest).max(0.0);
            for ((passage, cosine), features) in self.pool.iter().zip(&question.cosines).zip(features.iter_mut()) {
                if *passage == question.leap.from {
                    continue;
                }
                let closer = others.clone().filter(|it| it.1 > cosine).count();
                raise(&mut features.asked_anew, *cosine);
                raise(&mut features.asked_anew_gap, cosine - best);
                raise(&mut features.asked_anew_rank, 1.0 / (1 + closer) as f32);
                if is_linked(*passage) {
                    raise(&mut features.asked_anew_linked, *cosine);
                    raise(&mut features.asked_anew_linked_gap, cosine - best_linked);
                    raise(&mut features.asked_anew_linked_lent, cosine * share);
                }
            }
        }
    }
}

fn raise(value: &mut f32, to: f32) {
    *value = value.max(to);
}
