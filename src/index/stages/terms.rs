//! The lexical fields of a version: terms of passages and sentences, and how many each has.

use rayon::prelude::*;

use super::{Digest, Inputs, Made, Stage, StageKind};
use crate::domain::{Cancellation, Document, Passage};
use crate::error::Result;
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal, SentenceOrdinal};
use crate::graph::packed::{PackedGraph, row};
use crate::index::corpus::Corpus;
use crate::text::terms;
use crate::workspace::{HeldTerms, LastVersion};

/// Passages that are analyzed together.
const BLOCK: usize = 4_096;

/// Finds the terms of a corpus whose texts have this digest.
pub(in crate::index) struct FindTerms<'c> {
    pub(in crate::index) corpus: &'c Corpus<'c>,
    /// The passages and sentences.
    pub(in crate::index) packed: &'c PackedGraph,
    pub(in crate::index) texts: Digest,
    pub(in crate::index) cancellation: &'c Cancellation,
}

/// The terms of a corpus.
pub(in crate::index) struct FoundTerms {
    pub(in crate::index) lengths: Lengths,
    pub(in crate::index) fields: Fields,
}

/// How many terms each passage and each sentence has in its field.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::index) struct Lengths {
    pub(in crate::index) passages: Vec<u32>,
    pub(in crate::index) sentences: Vec<u32>,
}

/// The lexical fields.
pub(in crate::index) enum Fields {
    Made(LexicalFields),
    TakenOver(HeldTerms),
}

impl<'v> Stage<'v> for FindTerms<'_> {
    type Part = FoundTerms;

    fn kind(&self) -> StageKind {
        StageKind::Terms
    }

    fn inputs(&self, inputs: &mut Inputs) {
        inputs.bytes(self.texts.as_bytes());
    }

    fn take_over(&self, last: &'v LastVersion) -> Option<FoundTerms> {
        let graph = last.graph()?;
        let lengths = Lengths { passages: graph.passage_length.to_vec(), sentences: graph.sentence_length.to_vec() };
        let counts = (self.packed.passage_document.len(), self.packed.sentence_passage.len());
        let is_of_corpus = (lengths.passages.len(), lengths.sentences.len()) == counts;
        is_of_corpus.then_some(FoundTerms { lengths, fields: Fields::TakenOver(last.terms()?) })
    }

    async fn make(self) -> Result<Made<FoundTerms>> {
        let Self { corpus, packed, cancellation, .. } = self;
        let (fields, lengths) = LexicalFields::of(&corpus.documents, &corpus.passages, packed, cancellation)?;
        Ok(Made::whole(FoundTerms { lengths, fields: Fields::Made(fields) }))
    }
}

/// Terms of every title and sentence, separated by spaces. What a field holds of them is put together when it is
/// written: together they are many times as long.
pub(in crate::index) struct LexicalFields {
    /// Terms of the titles, by document.
    titles: Vec<String>,
    /// Terms of the passages without titles, sentence after sentence.
    passages: Vec<String>,
    /// Where each sentence ends among the terms of its passage.
    sentence_ends: Vec<u32>,
}

impl LexicalFields {
    /// Analyzes every text once.
    fn of(
        documents: &[&Document],
        passages: &[&Passage],
        packed: &PackedGraph,
        cancellation: &Cancellation,
    ) -> Result<(Self, Lengths)> {
        let titles = documents.par_iter().map(|it| it.title.as_deref().map_or_else(String::new, joined)).collect();
        let mut fields = Self { titles, passages: Vec::with_capacity(passages.len()), sentence_ends: Vec::new() };
        for block in passages.chunks(BLOCK) {
            cancellation.check()?;
            for (terms, ends) in block.par_iter().map(|passage| terms_of(passage)).collect::<Vec<_>>() {
                fields.passages.push(terms);
                fields.sentence_ends.extend(ends);
            }
        }
        let mut lengths = Lengths { passages: Vec::new(), sentences: Vec::new() };
        for passage in PassageOrdinal::first(passages.len()) {
            let title = length(fields.title(passage, packed));
            lengths.passages.push(2 * title + length(&fields.passages[passage.index()]));
            let sentences = row(&packed.passage_sentences, passage).map(SentenceOrdinal::at);
            lengths.sentences.extend(sentences.map(|it| title + length(fields.sentence_alone(it, packed))));
        }
        Ok((fields, lengths))
    }

    /// Appends the terms of a passage: its title twice and its text.
    pub(in crate::index) fn passage(&self, passage: PassageOrdinal, packed: &PackedGraph, terms: &mut String) {
        let title = self.title(passage, packed);
        append(title, terms);
        append(title, terms);
        append(&self.passages[passage.index()], terms);
    }

    /// Appends the terms of a sentence: its title and its text.
    pub(in crate::index) fn sentence(&self, sentence: SentenceOrdinal, packed: &PackedGraph, terms: &mut String) {
        append(self.title(packed.sentence_passage[sentence.index()], packed), terms);
        append(self.sentence_alone(sentence, packed), terms);
    }

    fn title(&self, passage: PassageOrdinal, packed: &PackedGraph) -> &str {
        &self.titles[packed.passage_document[passage.index()].index()]
    }

    fn sentence_alone(&self, sentence: SentenceOrdinal, packed: &PackedGraph) -> &str {
        let (passage, sentence) = (packed.sentence_passage[sentence.index()], sentence.index());
        let is_first = row(&packed.passage_sentences, passage).start == sentence;
        let start = if is_first { 0 } else { self.sentence_ends[sentence - 1] };
        let end = self.sentence_ends[sentence];
        self.passages[passage.index()][start as usize..end as usize].trim_start()
    }
}

/// Returns the terms of a passage, and where those of each sentence end.
fn terms_of(passage: &Passage) -> (String, Vec<u32>) {
    let (mut terms, mut ends) = (String::new(), Vec::with_capacity(passage.sentences.len()));
    for sentence in &passage.sentences {
        append(&joined(sentence.of(&passage.text)), &mut terms);
        ends.push(terms.len() as u32);
    }
    terms.shrink_to_fit();
    (terms, ends)
}

fn joined(text: &str) -> String {
    terms(text).join(" ")
}

fn append(part: &str, terms: &mut String) {
    if !part.is_empty() {
        if !terms.is_empty() {
            terms.push(' ');
        }
        terms.push_str(part);
    }
}

fn length(terms: &str) -> u32 {
    terms.split_ascii_whitespace().count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{PassageId, Span};
    use crate::graph::ordinal::listed;

    #[test]
    fn a_field_has_the_title_and_the_terms_of_its_sentences() {
        let document = Document::new("a", Some("Mills".to_owned()), "");
        let passage = |text: &str, sentences: &[(usize, usize)]| Passage {
            id: PassageId::of(&[text.as_bytes()]),
            document: document.id,
            ordinal: 0,
            span: Span::from(0..text.len()),
            section: None,
            page: None,
            line: None,
            text: text.to_owned(),
            sentences: sentences.iter().map(|(start, end)| Span::from(*start..*end)).collect(),
        };
        let passages = [passage("… River Tarn. … Harbor", &[(0, 3), (4, 15), (16, 19), (20, 26)]), passage("", &[])];
        let packed = PackedGraph {
            passage_document: listed(&[0, 0]),
            passage_sentences: vec![0, 4, 4],
            sentence_passage: listed(&[0; 4]),
            ..PackedGraph::default()
        };
        let passages: Vec<&Passage> = passages.iter().collect();
        let (fields, lengths) = LexicalFields::of(&[&document], &passages, &packed, &Cancellation::default()).unwrap();
        let text = |append: &dyn Fn(&mut String)| {
            let mut terms = String::new();
            append(&mut terms);
            terms
        };
        let sentences = [0, 1, 2, 3].map(|it| text(&|terms| fields.sentence(SentenceOrdinal(it), &packed, terms)));
        assert_eq!(sentences, ["mill", "mill river tarn", "mill", "mill harbor"]);
        let passages = [0, 1].map(|it| text(&|terms| fields.passage(PassageOrdinal(it), &packed, terms)));
        assert_eq!(passages, ["mill mill river tarn harbor", "mill mill"]);
        assert_eq!(lengths, Lengths { passages: vec![5, 2], sentences: vec![1, 3, 1, 2] });
    }
}
