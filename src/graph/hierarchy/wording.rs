//! How entities and sentences are written in the documents of a corpus.

use crate::graph::mentions::NamedDocument;
use crate::graph::ordinal::{EntityOrdinal, Ordinal as _, PassageOrdinal, SentenceOrdinal};
use crate::graph::packed::PassageGraph;
use crate::text::as_written;

/// Bearers of a name, and mentions of it, that are checked for its spelling.
const LOOKED_AT_MAX: usize = 3;

/// A graph, and the texts that it was made of.
#[derive(Clone, Copy)]
pub(super) struct Wording<'a> {
    pub(super) graph: PassageGraph<'a>,
    /// The same graph by entities.
    pub(super) names: PassageGraph<'a>,
    pub(super) documents: &'a [NamedDocument<'a>],
}

impl<'a> Wording<'a> {
    /// Returns the spelling of an entity: in the title of a document with that name, or else in its first mention.
    pub(super) fn spelling(&self, entity: EntityOrdinal) -> String {
        let graph = &self.names;
        let name = graph.entity_name(entity);
        let bearers = graph.entity_bearers.of(entity).take(LOOKED_AT_MAX);
        let titles = bearers.filter_map(|bearer| self.documents[graph.bearer_document[bearer].index()].title);
        let postings = graph.entity_mentions.of(entity).take(LOOKED_AT_MAX);
        let texts = postings.map(|posting| self.sentence(graph.mention_sentence[graph.posting_mention[posting]]));
        titles.chain(texts).find_map(|text| as_written(text, name)).unwrap_or_else(|| name.to_owned())
    }

    /// Returns the text of a sentence.
    pub(super) fn sentence(&self, sentence: SentenceOrdinal) -> &'a str {
        let passage = self.graph.sentence_passage[sentence];
        let document = self.graph.passage_document[passage];
        let number = |first: usize, at: usize| at - first;
        let of_document = self.graph.document_passages.of(document).range().start;
        let of_passage = self.graph.passage_sentences.of(passage).range().start;
        let passage = &self.documents[document.index()].passages[number(of_document, passage.index())];
        passage.sentences[number(of_passage, sentence.index())].of(passage.text)
    }

    /// Returns how many passages mention one of `entities`.
    pub(super) fn passages(&self, entities: &[EntityOrdinal]) -> u32 {
        let postings = entities.iter().flat_map(|entity| self.graph.entity_mentions.of(*entity));
        let mut passages: Vec<PassageOrdinal> = postings.map(|posting| self.graph.posting_passage[posting]).collect();
        passages.sort_unstable();
        passages.dedup();
        passages.len() as u32
    }
}
