//! The weights of `trail`, from a data file.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::forest::Forest;
use crate::domain::Counts;

/// The weight of each feature of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassageWeights {
    /// BM25 of the passage over the question's best.
    pub bm25: f32,
    /// BM25 of its best sentence over the question's best.
    pub best_sentence: f32,
    /// Cosine of question and passage.
    pub cosine: f32,
    /// Cosine of question and its best sentence.
    pub best_sentence_cosine: f32,
    /// The question names its document by title.
    pub named: f32,
    /// The question names its document by another name.
    pub named_lead: f32,
}

/// The weight of each feature of an edge A –entity→ B.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeWeights {
    /// The price of taking an edge.
    pub taken: f32,
    /// B has the entity's name: 1/√(documents with it).
    pub name: f32,
    /// The entity is a name of A.
    pub own: f32,
    /// ln(N/(df + 1))/ln N of the entity.
    pub rarity: f32,
    /// The question names the entity.
    pub in_question: f32,
    /// Words of the question around the mention in A.
    pub cue: f32,
    /// Share of the question that the mention's sentence in A covers.
    pub sentence: f32,
    /// Share of what A leaves uncovered that B covers.
    pub residual: f32,
    /// Share of what A leaves uncovered that B's sentence with the entity covers.
    pub sentence_residual: f32,
    /// `name` · `cue`.
    pub name_cue: f32,
}

/// The features of a passage, in the order of [`PassageWeights`].
pub type PassageFeatures = [f32; 6];
/// The features of an edge, in the order of [`EdgeWeights`].
pub type EdgeFeatures = [f32; 10];

impl From<PassageFeatures> for PassageWeights {
    fn from(weights: PassageFeatures) -> Self {
        let [bm25, best_sentence, cosine, best_sentence_cosine, named, named_lead] = weights;
        Self { bm25, best_sentence, cosine, best_sentence_cosine, named, named_lead }
    }
}

impl From<PassageWeights> for PassageFeatures {
    fn from(weights: PassageWeights) -> Self {
        let PassageWeights { bm25, best_sentence, cosine, best_sentence_cosine, named, named_lead } = weights;
        [bm25, best_sentence, cosine, best_sentence_cosine, named, named_lead]
    }
}

impl From<EdgeWeights> for EdgeFeatures {
    fn from(weights: EdgeWeights) -> Self {
        let EdgeWeights { taken, name, own, rarity, in_question, cue, .. } = weights;
        let EdgeWeights { sentence, residual, sentence_residual, name_cue, .. } = weights;
        [taken, name, own, rarity, in_question, cue, sentence, residual, sentence_residual, name_cue]
    }
}

impl From<EdgeFeatures> for EdgeWeights {
    fn from(weights: EdgeFeatures) -> Self {
        let [taken, name, own, rarity, in_question, cue, sentence, residual, sentence_residual, name_cue] = weights;
        Self { taken, name, own, rarity, in_question, cue, sentence, residual, sentence_residual, name_cue }
    }
}

/// The weights of one kind of corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrailWeights {
    /// Passages before the first round.
    pub seed: PassageWeights,
    /// Passages in the rounds.
    pub base: PassageWeights,
    /// Edges.
    pub edge: EdgeWeights,
    /// The boosted ranking of the best passages after the last round; none without trees.
    #[serde(default, skip_serializing_if = "Forest::is_empty")]
    pub trees: Forest,
}

/// Where the vectors of an index come from: a cosine of better vectors is worth more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VectorKind {
    /// There are none.
    Without,
    /// The table in the program.
    BuiltIn,
    /// A model.
    Model,
}

/// The weights for both kinds of corpus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightSet {
    /// For documents that have titles.
    pub titled: TrailWeights,
    /// For documents that mostly have none.
    pub untitled: TrailWeights,
}

static WITHOUT: LazyLock<Option<WeightSet>> =
    LazyLock::new(|| serde_json::from_str(include_str!("weights/none.json")).ok());
static BUILT_IN: LazyLock<Option<WeightSet>> =
    LazyLock::new(|| serde_json::from_str(include_str!("weights/built_in.json")).ok());
static MODEL: LazyLock<Option<WeightSet>> =
    LazyLock::new(|| serde_json::from_str(include_str!("weights/model.json")).ok());

/// Returns whether at least half of the documents have a title.
#[must_use]
pub fn is_titled(counts: Counts) -> bool {
    counts.titled * 2 >= counts.documents
}

impl WeightSet {
    /// Returns the weights that come with the program for one kind of vectors; `None` would be a fault of the program.
    #[must_use]
    pub fn shipped(kind: VectorKind) -> Option<&'static Self> {
        match kind {
            VectorKind::Without => WITHOUT.as_ref(),
            VectorKind::BuiltIn => BUILT_IN.as_ref(),
            VectorKind::Model => MODEL.as_ref(),
        }
    }

    /// Returns whether every weight is a finite number.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        [&self.titled, &self.untitled].iter().all(|it| {
            let passages = [it.seed, it.base].map(PassageFeatures::from);
            let edges = EdgeFeatures::from(it.edge);
            passages.as_flattened().iter().chain(&edges).all(|weight| weight.is_finite())
        })
    }

    /// Returns the weights for an index that holds so much: those for titles where at least half of its documents have
    /// one.
    #[must_use]
    pub fn of(&self, counts: Counts) -> &TrailWeights {
        if is_titled(counts) { &self.titled } else { &self.untitled }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_that_come_with_the_program_can_be_read() {
        for kind in [VectorKind::Without, VectorKind::BuiltIn, VectorKind::Model] {
            assert!(WeightSet::shipped(kind).is_some(), "{kind:?}");
        }
    }
}
