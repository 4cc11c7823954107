//! The best passages of a walk, each with all its evidence.

use rustc_hash::{FxHashMap, FxHashSet};

use super::edges::EdgeCandidate;
use super::features::CandidateFeatures;
use super::field::Field;
use super::links::{Best, Links};
use super::weights::TrailWeights;
use super::{Evidence, LENDING_RANK, TrailOptions, TrailWalk, edge_candidates};
use crate::graph::ordinal::{Column, EntityOrdinal, Ordinal as _, PassageOrdinal, SentenceOrdinal};
use crate::graph::packed::PassageGraph;
use crate::graph::top;
use crate::graph::vectors::Vectors;

/// Candidates of the walk that are ranked again.
pub const CANDIDATES: usize = 30;
/// Further candidates by their own scores: so many by `hybrid`, by BM25, by their best sentence.
const BY_THEMSELVES: [usize; 3] = [16, 8, 4];
/// Passages with distinct ranks by `hybrid` or BM25.
const RANKED: usize = 100;
/// Passages that substituted questions are compared with.
const POOL: usize = 200;
/// Passages with distinct ranks before the first round.
const SEEDS_RANKED: usize = 1_000;

/// A question against one version, with the vectors that its candidates are compared by.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The structure.
    pub graph: PassageGraph<'a>,
    /// The evidence of the question about every passage.
    pub evidence: &'a Evidence<'a>,
    /// Cosine of each sentence; empty without an embedder.
    pub sentence_cosine: Column<'a, SentenceOrdinal, f32>,
    /// Vectors of passages.
    pub passages: Vectors<'a>,
    /// Vectors of sentences.
    pub sentences: Vectors<'a>,
}

/// Features of the text of a candidate, which the structure lacks. Each is a feature of [`CandidateFeatures`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[expect(missing_docs, reason = "the features say what they are")]
pub struct TextFit {
    pub name_covered: f32,
    pub bigrams: f32,
    pub heading_fit: f32,
    pub headings_asked: f32,
    pub line_fit: f32,
    pub line_covered: f32,
    pub line_opens: f32,
    pub phrase: f32,
    pub near: f32,
    pub rarest: f32,
    pub prose: f32,
    pub letters: f32,
    pub line_words: f32,
    pub bulleted: f32,
    pub length: f32,
    pub listing: f32,
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

/// A question in which the start of an edge is replaced by its target, and how close passages are to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Substituted {
    /// The leap.
    pub leap: Leap,
    /// Cosine of the best sentence of each passage of [`Candidates::pool`].
    pub cosines: Vec<f32>,
}

/// The best passages of a walk, with the edges that leave the first of them.
pub struct Candidates {
    /// The candidates with their scores by the walk: its leaders, best first, and those that join them.
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
    /// Score of `hybrid`, its best, and 1/rank by it and by BM25, by place.
    pub(super) flat: Vec<Flat>,
    pool: Vec<PassageOrdinal>,
}

/// The features of a candidate without any walk.
#[derive(Clone, Copy, Default)]
pub(super) struct Flat {
    pub(super) hybrid: f32,
    pub(super) below: f32,
    pub(super) rank: f32,
    pub(super) lexical_rank: f32,
}

impl Candidates {
    /// Collects the candidates of a walk, and the edges that leave the first of them.
    #[must_use]
    pub fn of(setting: &Setting<'_>, weights: &TrailWeights, options: &TrailOptions, walked: &TrailWalk) -> Self {
        let leaders: Vec<(PassageOrdinal, f32)> = top::best_of(&walked.scores, POOL);
        let low = leaders.get(LENDING_RANK - 1).or(leaders.last());
        let ends = leaders.first().zip(low).map_or((0.0, 0.0), |(high, low)| (low.1, high.1));
        let ranks = FlatRanks::of(setting.evidence);
        let scored = joined(&leaders, &ranks, setting.evidence, walked);
        let sources: Vec<PassageOrdinal> = leaders.iter().take(options.expanded).map(|leader| leader.0).collect();
        let edges = edge_candidates(setting.graph, setting.evidence, &sources, options);
        let links = Links::of(&edges, &scored, ends, weights);
        let seeds = ranked(top::best_of(&walked.seeds, SEEDS_RANKED));
        let seed_rank =
            |leader: &(PassageOrdinal, f32)| 1.0 / (1 + seeds.get(&leader.0).unwrap_or(&SEEDS_RANKED)) as f32;
        let rest = leaders.iter().map(|leader| leader.0).filter(|it| scored.iter().all(|known| known.0 != *it));
        Self {
            ends,
            best: edges.iter().map(|edges| Best::of(edges)).collect(),
            places: scored.iter().enumerate().map(|(place, leader)| (leader.0, place)).collect(),
            seed_ranks: scored.iter().map(seed_rank).collect(),
            flat: scored.iter().map(|candidate| ranks.flat(candidate.0)).collect(),
            pool: scored.iter().map(|candidate| candidate.0).chain(rest).collect(),
            scored,
            edges,
            links,
        }
    }

    /// Returns the candidates: [`CANDIDATES`] of the walk, best first, and those that join them.
    pub fn passages(&self) -> impl Iterator<Item = PassageOrdinal> {
        self.scored.iter().map(|leader| leader.0)
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
    /// Complexity: that of one round of the walk, plus candidates · sources.
    #[must_use]
    pub fn features(
        &self,
        setting: &Setting<'_>,
        fits: &[TextFit],
        substituted: &[Substituted],
    ) -> Vec<CandidateFeatures> {
        let field = Field::of(self, setting);
        let mut features: Vec<CandidateFeatures> = (0..self.scored.len()).map(|place| field.features(place)).collect();
        field.coverage(&mut features);
        for (features, fit) in features.iter_mut().zip(fits) {
            fit.fill(features);
        }
        self.substitute(substituted, &mut features);
        field.question(&mut features);
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

impl TextFit {
    fn fill(&self, features: &mut CandidateFeatures) {
        let Self { name_covered, bigrams, heading_fit, headings_asked, line_fit, line_covered, .. } = *self;
        let Self { line_opens, phrase, near, rarest, prose, letters, line_words, bulleted, length, listing, .. } =
            *self;
        *features = CandidateFeatures {
            name_covered,
            bigrams,
            heading_fit,
            headings_asked,
            line_fit,
            line_covered,
            line_opens,
            phrase,
            near,
            rarest,
            prose,
            letters,
            line_words,
            bulleted,
            length,
            listing,
            ..*features
        };
    }
}

/// The best passages by their own scores.
struct FlatRanks {
    hybrid: Vec<f32>,
    by_hybrid: Vec<(PassageOrdinal, f32)>,
    by_words: Vec<(PassageOrdinal, f32)>,
    hybrid_ranks: FxHashMap<PassageOrdinal, usize>,
    word_ranks: FxHashMap<PassageOrdinal, usize>,
}

impl FlatRanks {
    fn of(evidence: &Evidence<'_>) -> Self {
        let hybrid = evidence.hybrid_scores();
        let by_hybrid = top::best_of(&hybrid, RANKED);
        let by_words = top::best_of(evidence.bm25.items(), RANKED);
        let (hybrid_ranks, word_ranks) = (ranked(by_hybrid.clone()), ranked(by_words.clone()));
        Self { hybrid, by_hybrid, by_words, hybrid_ranks, word_ranks }
    }

    fn flat(&self, passage: PassageOrdinal) -> Flat {
        let rank = |of: &FxHashMap<PassageOrdinal, usize>| 1.0 / (1 + of.get(&passage).unwrap_or(&RANKED)) as f32;
        let hybrid = self.hybrid[passage.index()];
        let below = hybrid - self.by_hybrid.first().map_or(0.0, |best| best.1);
        Flat { hybrid, below, rank: rank(&self.hybrid_ranks), lexical_rank: rank(&self.word_ranks) }
    }
}

/// Returns the place of each.
fn ranked(best: Vec<(PassageOrdinal, f32)>) -> FxHashMap<PassageOrdinal, usize> {
    best.into_iter().enumerate().map(|(rank, it)| (it.0, rank)).collect()
}

/// Returns the first passages of the walk, and those that join them by their own scores, in the order of the walk.
fn joined(
    leaders: &[(PassageOrdinal, f32)],
    ranks: &FlatRanks,
    evidence: &Evidence<'_>,
    walked: &TrailWalk,
) -> Vec<(PassageOrdinal, f32)> {
    let mut scored: Vec<(PassageOrdinal, f32)> = leaders.iter().take(CANDIDATES).copied().collect();
    let mut known: FxHashSet<PassageOrdinal> = scored.iter().map(|leader| leader.0).collect();
    let by_sentence = top::best_of(evidence.best_sentence.items(), BY_THEMSELVES[2]);
    let lists = [&ranks.by_hybrid, &ranks.by_words, &by_sentence];
    let mut others = Vec::new();
    for (list, count) in lists.into_iter().zip(BY_THEMSELVES) {
        let able = list.iter().take(count).filter(|it| it.1 > 0.0 && evidence.is_allowed(it.0));
        others.extend(able.filter(|it| known.insert(it.0)).map(|it| (it.0, walked.scores[it.0.index()])));
    }
    others.sort_unstable_by(top::best_first);
    scored.extend(others);
    scored
}

fn raise(value: &mut f32, to: f32) {
    *value = value.max(to);
}
