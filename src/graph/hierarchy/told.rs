//! Which sentences mention each entity, by any of its names.

use crate::graph::ordinal::{EntityOrdinal, Ordinal as _, SentenceOrdinal};
use crate::graph::packed::{PassageGraph, row};
use crate::graph::resolution::{Resolution, resolved};

/// Sentences of an entity that are read: those of its first mentions.
const SENTENCES_MAX: usize = 32;

/// The sentences of every entity, and how many documents mention it. Names that stand for another entity have none.
#[derive(Debug)]
pub(crate) struct Told {
    /// Sentences of each entity: rows of `sentences`.
    rows: Vec<u32>,
    sentences: Vec<SentenceOrdinal>,
    documents: Vec<u32>,
}

impl Told {
    /// Reads a graph by names, and the entities of these; without a resolution, each name is an entity.
    ///
    /// # Complexity
    ///
    /// O(mentions · log mentions) time; 4 bytes for each of at most 32 sentences an entity, and 8 an entity.
    pub(crate) fn of(names: &PassageGraph<'_>, resolution: Option<Resolution<'_>>) -> Self {
        match resolution {
            Some(resolution) => Self::of_entities(&resolved(names, &resolution).view()),
            None => Self::of_entities(names),
        }
    }

    fn of_entities(graph: &PassageGraph<'_>) -> Self {
        let (mut rows, mut sentences) = (vec![0], Vec::new());
        for entity in graph.entity_documents.ordinals() {
            sentences.extend(sentences_of(graph, entity));
            rows.push(sentences.len() as u32);
        }
        Self { rows, sentences, documents: graph.entity_documents.items().to_vec() }
    }

    /// Returns the sentences that mention an entity, the first ones, or else those that open the passages that it
    /// names.
    pub(crate) fn sentences(&self, entity: EntityOrdinal) -> &[SentenceOrdinal] {
        &self.sentences[row(&self.rows, entity)]
    }

    /// Returns how many documents mention an entity.
    pub(crate) fn documents(&self, entity: EntityOrdinal) -> u32 {
        self.documents[entity.index()]
    }
}

/// Returns the sentences of an entity, in order, of a graph by entities: see [`Told::sentences`].
pub(super) fn sentences_of(graph: &PassageGraph<'_>, entity: EntityOrdinal) -> Vec<SentenceOrdinal> {
    let postings = graph.entity_mentions.of(entity).take(SENTENCES_MAX);
    let mut told: Vec<SentenceOrdinal> =
        postings.map(|posting| graph.mention_sentence[graph.posting_mention[posting]]).collect();
    told.dedup();
    if told.is_empty() {
        let bearers = graph.entity_bearers.of(entity).take(SENTENCES_MAX);
        told.extend(bearers.filter_map(|it| graph.passage_sentences.of(graph.bearer_passage[it]).next()));
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ordinal::listed;
    use crate::graph::packed::PackedGraph;
    use crate::graph::resolution::PackedResolution;

    /// Three documents with one passage of one sentence: 0 mentions entity 0, 1 mentions both, 2 mentions 1.
    fn packed() -> PackedGraph {
        PackedGraph {
            document_passages: vec![0, 1, 2, 3],
            passage_document: listed(&[0, 1, 2]),
            passage_sentences: vec![0, 1, 2, 3],
            sentence_passage: listed(&[0, 1, 2]),
            entity_name_ends: vec![1, 2],
            entity_names: b"ab".to_vec(),
            entity_flags: vec![0, 0],
            entity_documents: vec![2, 2],
            entity_bearers: vec![0, 0, 0],
            passage_mentions: vec![0, 1, 3, 4],
            mention_entity: listed(&[0, 0, 1, 1]),
            mention_sentence: listed(&[0, 1, 1, 2]),
            entity_mentions: vec![0, 2, 4],
            posting_mention: listed(&[0, 1, 2, 3]),
            posting_passage: listed(&[0, 1, 1, 2]),
            ..PackedGraph::default()
        }
    }

    #[test]
    fn an_entity_has_the_sentences_and_documents_of_all_its_names() {
        let (packed, [a, b]) = (packed(), [0, 1].map(EntityOrdinal));
        let apart = Told::of(&packed.view(), None);
        assert_eq!([a, b].map(|it| apart.sentences(it).len()), [2, 2]);
        let mut resolution = PackedResolution::of_names(2);
        resolution.entity_canonical = listed(&[1, 1]);
        let merged = Told::of(&packed.view(), Some(resolution.view()));
        assert_eq!(merged.sentences(b), listed::<SentenceOrdinal>(&[0, 1, 2]));
        assert_eq!((merged.sentences(a).len(), merged.documents(a), merged.documents(b)), (0, 0, 3));
    }
}
