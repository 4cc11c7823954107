//! The features of candidates: of each by itself, of the edge that leads to it, and in comparison with the others.

use rustc_hash::FxHashMap;

use super::candidates::{Candidates, Flat, Setting};
use super::edges::EdgeCandidate;
use super::features::CandidateFeatures;
use super::links::Link;
use super::{LENDING_RANK, lent};
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};

/// The first candidates: those that others may lead to or be linked with.
const FIRST: usize = 12;
/// Gain from which an edge counts.
const GAIN_MIN: f32 = 0.3;
/// Passages on a path at most.
const DEPTH_MAX: usize = 4;

/// Candidates against a question.
pub(super) struct Field<'a> {
    of: &'a Candidates,
    setting: &'a Setting<'a>,
    /// The idf of all terms.
    whole: f32,
}

impl<'a> Field<'a> {
    pub(super) fn of(candidates: &'a Candidates, setting: &'a Setting<'a>) -> Self {
        Self { of: candidates, setting, whole: setting.evidence.weight(setting.evidence.all_terms()) + 1e-9 }
    }

    /// Returns the features of the candidate at `place`, without those that depend on other candidates' texts.
    pub(super) fn features(&self, place: usize) -> CandidateFeatures {
        let (passage, score) = self.of.scored[place];
        let evidence = self.setting.evidence;
        let [bm25, best_sentence, cosine, best_sentence_cosine, named, named_lead] = evidence.passage_features(passage);
        let fifth = self.of.scored.get(4).map_or(self.of.ends.0, |leader| leader.1);
        let mut features = CandidateFeatures {
            score,
            below_first: score - self.of.ends.1,
            below_fifth: score - fifth,
            lent: lent(score, self.of.ends.0, self.of.ends.1),
            rank: 1.0 / (1 + place) as f32,
            seed_rank: self.of.seed_ranks[place],
            bm25,
            best_sentence,
            cosine,
            best_sentence_cosine,
            named,
            named_lead,
            ..CandidateFeatures::default()
        };
        self.flat(place, passage, &mut features);
        let link = self.of.links.best_into(passage);
        if let Some(link) = link {
            self.arrival(passage, link, &mut features);
        }
        self.path(passage, link, &mut features);
        self.bridge(passage, link, &mut features);
        features
    }

    /// Fills in the features of a candidate without any walk.
    fn flat(&self, place: usize, passage: PassageOrdinal, features: &mut CandidateFeatures) {
        let (graph, evidence) = (self.setting.graph, self.setting.evidence);
        let Flat { hybrid, below, rank, lexical_rank } = self.of.flat[place];
        let sentences = graph.passage_sentences.of(passage);
        let covered = sentences.map(|sentence| self.share(evidence.sentence_covered[sentence])).fold(0.0, f32::max);
        let siblings = graph.document_passages.of(graph.passage_document[passage]);
        let (first, count) = (siblings.clone().next().unwrap_or(passage), siblings.len());
        let at = passage.number() - first.number();
        (features.hybrid, features.hybrid_below, features.hybrid_rank) = (hybrid, below, rank);
        (features.lexical_rank, features.sentence_covered) = (lexical_rank, covered);
        features.is_opening = if at == 0 { 1.0 } else { 0.0 };
        features.position = at as f32 / count.max(1) as f32;
        features.siblings = (count as f32).ln_1p() / 8.0;
    }

    /// Fills in the features of the question, the same for all candidates.
    pub(super) fn question(&self, features: &mut [CandidateFeatures]) {
        let evidence = self.setting.evidence;
        let most = |of: &dyn Fn(&CandidateFeatures) -> f32| features.iter().map(of).fold(0.0, f32::max);
        let margin = |of: &dyn Fn(&CandidateFeatures) -> f32| {
            let mut values: Vec<f32> = features.iter().map(of).collect();
            values.sort_unstable_by(|a, b| b.total_cmp(a));
            values.first().zip(values.get(4)).map_or(1.0, |(best, fifth)| best - fifth)
        };
        let named = evidence.named.values().chain(evidence.named_lead.values()).copied().fold(0.0, f32::max);
        let of_question = CandidateFeatures {
            question_terms: evidence.idf.len() as f32 / 16.0,
            question_named: named,
            question_entities: evidence.entities.len() as f32 / 4.0,
            question_covered: most(&|it| it.covered),
            question_sentence: most(&|it| it.sentence_covered),
            question_margin: margin(&|it| it.hybrid),
            question_lexical_margin: margin(&|it| it.bm25),
            question_gain: most(&|it| it.gain),
            question_agreed: features.first().map_or(0.0, |first| first.hybrid_rank),
            ..CandidateFeatures::default()
        };
        for features in features {
            features.question_terms = of_question.question_terms;
            features.question_named = of_question.question_named;
            features.question_entities = of_question.question_entities;
            features.question_covered = of_question.question_covered;
            features.question_sentence = of_question.question_sentence;
            features.question_margin = of_question.question_margin;
            features.question_lexical_margin = of_question.question_lexical_margin;
            features.question_gain = of_question.question_gain;
            features.question_agreed = of_question.question_agreed;
        }
    }

    /// Fills in the features of the best edge to a passage.
    fn arrival(&self, passage: PassageOrdinal, link: &Link, features: &mut CandidateFeatures) {
        let edge = &self.of.edges[link.source][link.edge];
        let (source, score) = self.of.scored[link.source];
        let source_named = self.named(source);
        let [_, name, own, rarity, in_question, cue, sentence, residual, sentence_residual, name_cue] = edge.features;
        let best = &self.of.best[link.source];
        let [first, second] = self.of.links.best_two[link.source];
        let into = &self.of.links.by_target[&passage];
        *features = CandidateFeatures {
            gain: link.gain,
            worth: link.worth,
            source_lent: lent(score, self.of.ends.0, self.of.ends.1),
            source_rank: 1.0 / (1 + link.source) as f32,
            source_named,
            name,
            own,
            rarity,
            in_question,
            cue,
            sentence,
            residual,
            sentence_residual,
            name_cue,
            name_residual: name * residual,
            target_cue: edge.target_cue,
            target_cue_residual: edge.target_cue * sentence_residual,
            cue_residual: cue * sentence_residual,
            cue_share: share(cue, best.cue),
            residual_share: share(residual, best.residual),
            sentence_residual_share: share(sentence_residual, best.sentence_residual),
            target_cue_share: share(edge.target_cue, best.target_cue),
            named_to_named: source_named * name,
            named_to_shared: if name > 0.0 { 0.0 } else { source_named },
            second_gain: into.get(1).map_or(0.0, |link| link.gain),
            sources: into.iter().filter(|link| link.gain > GAIN_MIN).count() as f32 / 4.0,
            rank_in_source: 1.0 / (1 + link.place) as f32,
            margin_in_source: link.gain - if link.place == 0 { second } else { first },
            ..*features
        };
        self.cosines(source, edge, features);
    }

    /// Fills in how close vectors are; nothing without them.
    fn cosines(&self, source: PassageOrdinal, edge: &EdgeCandidate, features: &mut CandidateFeatures) {
        let Setting { evidence, passages, sentences, sentence_cosine, .. } = self.setting;
        if sentence_cosine.is_empty() || sentences.is_empty() || passages.is_empty() {
            return;
        }
        let of = |passage: PassageOrdinal| evidence.cosine[passage];
        let (of_source, of_target) = (of(source), of(edge.to));
        let between = passages.cosine(source.0, passages, edge.to.0);
        features.residual_cosine = 0.5f32.mul_add(-between, of_target) / (1.25 - of_source).max(1e-6).sqrt();
        let best = |passage: PassageOrdinal| {
            let own = self.setting.graph.passage_sentences.of(passage);
            own.max_by(|a, b| sentence_cosine[*a].total_cmp(&sentence_cosine[*b]))
        };
        let from = edge.source_sentence.or_else(|| best(source));
        let Some((from, to)) = from.zip(edge.target_sentence.or_else(|| best(edge.to))) else { return };
        let (from_cosine, to_cosine) = (sentence_cosine[from], sentence_cosine[to]);
        let between = sentences.cosine(from.0, sentences, to.0);
        let pair = (from_cosine + to_cosine) / 2.0f32.mul_add(between, 2.0).max(1e-6).sqrt();
        features.sentence_cosine = from_cosine;
        features.target_cosine = to_cosine;
        features.pair_gain = pair - from_cosine.max(to_cosine);
        features.target_residual_cosine =
            from_cosine.mul_add(-between, to_cosine) / from_cosine.mul_add(-from_cosine, 1.0).max(1e-6).sqrt();
    }

    /// Fills in the path by which a passage is reached: it ends at a passage that the question names.
    fn path(&self, passage: PassageOrdinal, link: Option<&Link>, features: &mut CandidateFeatures) {
        let evidence = self.setting.evidence;
        let mut terms = evidence.passage_covered[passage];
        let mut path = vec![passage];
        let mut next = link;
        while let Some(link) = next.filter(|_| path.len() <= DEPTH_MAX) {
            let from = self.of.scored[link.source].0;
            if path.contains(&from) {
                break;
            }
            path.push(from);
            terms |= evidence.passage_covered[from];
            next = self.of.links.best_into(from).filter(|_| self.named(from) <= 0.0);
        }
        features.depth = (path.len() - 1) as f32 / DEPTH_MAX as f32;
        features.path_covered = evidence.weight(terms) / self.whole;
        features.root_rank = self.at_place(path.last().copied().unwrap_or(passage));
    }

    /// Fills in where else edges lead: on from the passage, and to it from others.
    fn bridge(&self, passage: PassageOrdinal, link: Option<&Link>, features: &mut CandidateFeatures) {
        let source = link.map(|link| self.of.scored[link.source].0);
        let own = self.of.places.get(&passage).and_then(|place| self.of.links.by_source.get(*place));
        for (to, onward) in own.into_iter().flatten() {
            let place = self.of.places.get(to).copied().unwrap_or(usize::MAX);
            if place < FIRST && Some(*to) != source && onward.gain > features.bridge {
                (features.bridge, features.bridge_rank) = (onward.gain, 1.0 / (1 + place) as f32);
            }
        }
        for into in self.of.links.by_target.get(&passage).into_iter().flatten() {
            let from = self.of.scored[into.source].0;
            if Some(from) != source {
                features.other_gain = features.other_gain.max(into.gain);
            }
            if self.named(from) > 0.0 && into.gain > 0.0 {
                features.after_named = features.after_named.max(1.0 / (1 + into.place) as f32);
            }
        }
    }

    fn named(&self, passage: PassageOrdinal) -> f32 {
        let by = |names: &FxHashMap<PassageOrdinal, f32>| names.get(&passage).copied().unwrap_or(0.0);
        by(self.setting.evidence.named).max(by(self.setting.evidence.named_lead))
    }

    fn at_place(&self, passage: PassageOrdinal) -> f32 {
        1.0 / (1 + self.of.places.get(&passage).copied().unwrap_or(LENDING_RANK)) as f32
    }

    /// Fills in what candidates cover of the question together.
    pub(super) fn coverage(&self, features: &mut [CandidateFeatures]) {
        let evidence = self.setting.evidence;
        let terms: Vec<u64> =
            self.of.scored.iter().take(features.len()).map(|leader| evidence.passage_covered[leader.0]).collect();
        let mut seen = 0;
        let mut taken: Vec<usize> = Vec::new();
        for (place, features) in features.iter_mut().enumerate() {
            features.covered = self.share(terms[place]);
            features.newly_covered = self.share(terms[place] & !seen);
            seen |= terms[place];
            if let Some(link) = self.of.links.best_into(self.of.scored[place].0) {
                features.is_source_taken = if taken.contains(&link.source) { 1.0 } else { 0.0 };
                taken.push(link.source);
            }
        }
        let linked = self.pairs(features);
        self.chains(&terms, &linked, features);
    }

    fn share(&self, terms: u64) -> f32 {
        self.setting.evidence.weight(terms) / self.whole
    }

    /// Fills in the coverage of the sentences of edges, and returns which candidates are linked.
    fn pairs(&self, features: &mut [CandidateFeatures]) -> Vec<Vec<bool>> {
        let mut linked = vec![vec![false; features.len()]; features.len()];
        for (source, edges) in self.of.edges.iter().enumerate() {
            let lent = lent(self.of.scored[source].1, self.of.ends.0, self.of.ends.1);
            for edge in edges {
                let Some(&to) = self.of.places.get(&edge.to).filter(|place| **place < features.len()) else { continue };
                let has_gain = self.of.links.by_source[source].get(&edge.to).is_some_and(|link| link.gain > 0.0);
                if !has_gain {
                    continue;
                }
                let covered = self.share(edge.source_terms | edge.target_terms);
                let into = &mut features[to];
                into.pair_in = into.pair_in.max(covered);
                into.pair_in_lent = into.pair_in_lent.max(covered * lent);
                if source < features.len() {
                    if to < FIRST {
                        features[source].pair_out = features[source].pair_out.max(covered);
                    }
                    (linked[source][to], linked[to][source]) = (true, true);
                }
            }
        }
        linked
    }

    /// Fills in the coverage of a candidate together with one of the first that it is linked with, and with two.
    fn chains(&self, terms: &[u64], linked: &[Vec<bool>], features: &mut [CandidateFeatures]) {
        let first = features.len().min(FIRST);
        for (place, own) in features.iter_mut().enumerate() {
            for with in (0..first).filter(|with| linked[place][*with]) {
                let covered = self.share(terms[place] | terms[with]);
                if covered > own.pair_covered {
                    (own.pair_covered, own.pair_added) = (covered, covered - self.share(terms[with]));
                }
            }
        }
        for a in 0..first {
            for b in (a + 1..first).filter(|b| linked[a][*b]) {
                for third in (0..features.len()).filter(|it| ![a, b].contains(it)) {
                    if linked[third][a] || linked[third][b] {
                        let covered = self.share(terms[a] | terms[b] | terms[third]);
                        for of in [a, b, third] {
                            features[of].chain_covered = features[of].chain_covered.max(covered);
                        }
                    }
                }
            }
        }
    }
}

fn share(value: f32, best: f32) -> f32 {
    if best > 0.0 { value / best } else { 0.0 }
}
