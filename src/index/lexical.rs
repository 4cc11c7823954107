//! The lexical fields of a version: terms of passages and sentences, and how many each has.

use rayon::prelude::*;

use crate::domain::{Cancellation, Document, Passage};
use crate::error::Result;
use crate::graph::packed::{PackedGraph, row};
use crate::text::terms;

/// Terms of every title and sentence, each text's joined by spaces. What a field holds of them is put together when it
/// is written: together they are many times as long.
pub(super) struct LexicalFields {
    /// Terms of the titles, by document.
    titles: Vec<String>,
    /// Terms of the sentences.
    sentences: Vec<String>,
}

impl LexicalFields {
    /// Analyzes every text once, and fills the lengths of `packed`.
    pub(super) fn of(
        documents: &[&Document],
        passages: &[&Passage],
        packed: &mut PackedGraph,
        cancellation: &Cancellation,
    ) -> Result<Self> {
        let titles = documents.par_iter().map(|it| it.title.as_deref().map_or_else(String::new, joined)).collect();
        let sentences = passages
            .par_iter()
            .take_any_while(|_| !cancellation.is_cancelled())
            .flat_map_iter(|passage| passage.sentences.iter().map(|sentence| joined(sentence.of(&passage.text))));
        let fields = Self { titles, sentences: sentences.collect() };
        cancellation.check()?;
        let (mut passage_length, mut sentence_length) = (Vec::new(), Vec::new());
        for (passage, document) in (0..).zip(&packed.passage_document) {
            let title = length(&fields.titles[*document as usize]);
            let mut whole = 2 * title;
            for sentence in &fields.sentences[row(&packed.passage_sentences, passage)] {
                sentence_length.push(title + length(sentence));
                whole += length(sentence);
            }
            passage_length.push(whole);
        }
        (packed.passage_length, packed.sentence_length) = (passage_length, sentence_length);
        Ok(fields)
    }

    /// Appends the terms of a passage: its title twice and its text.
    pub(super) fn passage(&self, passage: usize, packed: &PackedGraph, terms: &mut String) {
        let title = self.title(passage, packed);
        append(title, terms);
        append(title, terms);
        self.sentences[row(&packed.passage_sentences, passage as u32)].iter().for_each(|it| append(it, terms));
    }

    /// Appends the terms of a sentence: its title and its text.
    pub(super) fn sentence(&self, sentence: usize, packed: &PackedGraph, terms: &mut String) {
        append(self.title(packed.sentence_passage[sentence] as usize, packed), terms);
        append(&self.sentences[sentence], terms);
    }

    fn title(&self, passage: usize, packed: &PackedGraph) -> &str {
        &self.titles[packed.passage_document[passage] as usize]
    }
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
