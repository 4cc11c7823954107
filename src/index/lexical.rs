//! The lexical fields of a version: terms of passages and sentences, and how many each has.

use rayon::prelude::*;

use crate::domain::{Document, Passage};
use crate::graph::packed::PackedGraph;
use crate::text::terms;

/// Terms of every text, joined by spaces.
pub(super) struct LexicalFields {
    /// Title twice and text, by passage.
    pub(super) passages: Vec<String>,
    /// Title and sentence, by sentence.
    pub(super) sentences: Vec<String>,
}

impl LexicalFields {
    /// Analyzes every text once, and fills the lengths of `packed`.
    pub(super) fn of(documents: &[&Document], passages: &[&Passage], packed: &mut PackedGraph) -> Self {
        let titles: Vec<String> =
            documents.par_iter().map(|it| it.title.as_deref().map_or_else(String::new, joined)).collect();
        let texts: Vec<Vec<String>> = passages
            .par_iter()
            .map(|passage| passage.sentences.iter().map(|sentence| joined(sentence.of(&passage.text))).collect())
            .collect();
        let mut fields = Self { passages: Vec::with_capacity(passages.len()), sentences: Vec::new() };
        for (sentences, document) in texts.iter().zip(&packed.passage_document) {
            let title = titles[*document as usize].as_str();
            let whole = [title, title].into_iter().chain(sentences.iter().map(String::as_str));
            fields.passages.push(join(whole));
            fields.sentences.extend(sentences.iter().map(|sentence| join([title, sentence.as_str()].into_iter())));
        }
        packed.passage_length = lengths(&fields.passages);
        packed.sentence_length = lengths(&fields.sentences);
        fields
    }
}

fn joined(text: &str) -> String {
    terms(text).join(" ")
}

fn join<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn lengths(texts: &[String]) -> Vec<u32> {
    texts.iter().map(|text| text.split_ascii_whitespace().count() as u32).collect()
}
