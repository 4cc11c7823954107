//! The evidence of a question about every passage, before any edge is followed.

use rustc_hash::{FxHashMap, FxHashSet};

use super::weights::{PassageFeatures, PassageWeights};
use crate::graph::ordinal::{Column, CueOrdinal, EntityOrdinal, Ordinal as _, PassageOrdinal, SentenceOrdinal};

/// Maximum distinct terms of a question: those with the highest idf.
pub const TERMS_MAX: usize = 64;

/// The evidence of a question about one version of an index, borrowed.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// idf of the question's distinct terms, at most [`TERMS_MAX`].
    pub idf: &'a [f32],
    /// Which of the terms each passage covers: it has the term, or a word for the same relation.
    pub passage_covered: Column<'a, PassageOrdinal, u64>,
    /// Which of the terms each sentence covers.
    pub sentence_covered: Column<'a, SentenceOrdinal, u64>,
    /// BM25 of each passage over the best.
    pub bm25: Column<'a, PassageOrdinal, f32>,
    /// BM25 of each passage's best sentence over the best.
    pub best_sentence: Column<'a, PassageOrdinal, f32>,
    /// Cosine of each passage; empty without an embedder.
    pub cosine: Column<'a, PassageOrdinal, f32>,
    /// Cosine of each passage's best sentence; empty without an embedder.
    pub best_sentence_cosine: Column<'a, PassageOrdinal, f32>,
    /// 1/√(bearers) if the question names the passage's document by title.
    pub named: &'a FxHashMap<PassageOrdinal, f32>,
    /// The same by another name, × 0.6 for a name cut at a comma.
    pub named_lead: &'a FxHashMap<PassageOrdinal, f32>,
    /// Entities that the question names.
    pub entities: &'a FxHashSet<EntityOrdinal>,
    /// Words of the question outside its names, as cues, with idf over the highest.
    pub cues: &'a FxHashMap<CueOrdinal, f32>,
    /// Documents of the version.
    pub documents: f32,
    /// Passages that may be shown, if there is a filter.
    pub allowed: Option<Column<'a, PassageOrdinal, bool>>,
}

/// Share of BM25 in `hybrid`.
const LEXICAL_SHARE: f32 = 0.6;

/// See [`Evidence::hybrid_scores`].
#[must_use]
pub fn hybrid_scores(bm25: &[f32], cosine: &[f32]) -> Vec<f32> {
    if cosine.is_empty() {
        return bm25.to_vec();
    }
    // Passages not at hand have a cosine of 0.
    let low = cosine.iter().copied().fold(0.0, f32::min);
    let high = cosine.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let scaled = cosine.iter().map(|cosine| (cosine - low) / (high - low + 1e-9));
    bm25.iter().zip(scaled).map(|(bm25, cosine)| LEXICAL_SHARE * bm25 + (1.0 - LEXICAL_SHARE) * cosine).collect()
}

/// Returns the idf of all terms in `terms`.
#[must_use]
pub fn weight(idf: &[f32], terms: u64) -> f32 {
    let mut rest = terms;
    let mut sum = 0.0;
    while rest != 0 {
        sum += idf[rest.trailing_zeros() as usize];
        rest &= rest - 1;
    }
    sum
}

/// Returns the bits of all terms.
#[must_use]
pub fn all_terms(idf: &[f32]) -> u64 {
    if idf.len() >= TERMS_MAX { u64::MAX } else { (1 << idf.len()) - 1 }
}

impl Evidence<'_> {
    /// Returns the score of every passage under `weights`; −∞ for passages that may not be shown.
    #[must_use]
    pub fn passage_scores(&self, weights: &PassageWeights) -> Vec<f32> {
        let mut scores: Vec<f32> = self
            .bm25
            .ordinals()
            .map(|passage| {
                weights.bm25 * self.bm25[passage]
                    + weights.best_sentence * self.best_sentence[passage]
                    + weights.cosine * self.cosine.find(passage).copied().unwrap_or(0.0)
                    + weights.best_sentence_cosine * self.best_sentence_cosine.find(passage).copied().unwrap_or(0.0)
            })
            .collect();
        for (names, weight) in [(self.named, weights.named), (self.named_lead, weights.named_lead)] {
            for (&passage, value) in names {
                scores[passage.index()] += weight * value;
            }
        }
        if let Some(allowed) = self.allowed {
            for (score, allowed) in scores.iter_mut().zip(allowed.items()) {
                if !allowed {
                    *score = f32::NEG_INFINITY;
                }
            }
        }
        scores
    }

    /// Returns the score of `hybrid` for every passage: 0.6 · BM25 over the best + 0.4 · cosine between worst and best;
    /// BM25 alone without vectors.
    #[must_use]
    pub fn hybrid_scores(&self) -> Vec<f32> {
        hybrid_scores(self.bm25.items(), self.cosine.items())
    }

    /// Returns the features of one passage, before they are weighted.
    #[must_use]
    pub fn passage_features(&self, passage: PassageOrdinal) -> PassageFeatures {
        let of = |list: Column<'_, PassageOrdinal, f32>| list.find(passage).copied().unwrap_or(0.0);
        let by = |names: &FxHashMap<PassageOrdinal, f32>| names.get(&passage).copied().unwrap_or(0.0);
        [
            of(self.bm25),
            of(self.best_sentence),
            of(self.cosine),
            of(self.best_sentence_cosine),
            by(self.named),
            by(self.named_lead),
        ]
    }

    /// Returns whether a passage may be shown.
    #[must_use]
    pub fn is_allowed(&self, passage: PassageOrdinal) -> bool {
        self.allowed.is_none_or(|allowed| allowed[passage])
    }

    /// Returns the idf of all terms in `terms`.
    #[must_use]
    pub fn weight(&self, terms: u64) -> f32 {
        weight(self.idf, terms)
    }

    /// Returns the bits of all terms.
    #[must_use]
    pub fn all_terms(&self) -> u64 {
        all_terms(self.idf)
    }
}
