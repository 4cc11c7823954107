//! Passages, and where they stand.

use super::super::element::{EMBEDDING, Element, Properties, Type, VECTORS, Value, integer};
use super::super::source::{Source, add_vectors, embedding, relationship};
use super::{Declaration, Kind};
use crate::domain::Span;
use crate::error::Result;
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};
use crate::store::GraphReader as _;

/// Characters of a passage that name it.
const NAME_CHARACTERS: usize = 60;

pub(super) const PASSAGE: Declaration = Declaration {
    labels: &["Passage"],
    ends: None,
    properties: properties! {
        name: Text, title: Text, section: Text, page: Integer, line: Integer, ordinal: Integer, start: Integer,
        end: Integer, sentences: Integers, text: Text, keywords: Texts, length: Integer,
        sentenceLengths: Integers, embedding: Floats, vectors: Bytes,
    },
    count: |source| source.graph.passage_count(),
    element: passage,
};

fn passage(source: &Source<'_>, number: u32) -> Result<Element> {
    let (graph, number) = (&source.graph, PassageOrdinal(number));
    let document = graph.passage_document[number];
    let passage = source.snapshot.passage(number)?;
    let ordinal = number.index() - graph.document_passages.of(document).range().start;
    let mut properties = Properties::default();
    properties.put_text("name", beginning(&passage.text));
    properties.put_text("title", source.snapshot.document(document)?.caption());
    if let Some(section) = passage.section {
        properties.put_text("section", section);
    }
    for (name, number) in [("page", passage.page), ("line", passage.line)] {
        if let Some(number) = number {
            properties.put(name, integer(number));
        }
    }
    properties.put("ordinal", integer(ordinal as u32));
    properties.put("start", integer(passage.span.start));
    properties.put("end", integer(passage.span.end));
    properties.put("sentences", Value::Integers(passage.sentences.iter().flat_map(bounds).collect()));
    properties.put_text("text", passage.text);
    properties.put("keywords", source.keywords(graph.passage_keywords, graph.passage_keyword, number));
    properties.put("length", integer(graph.passage_length[number]));
    let lengths = graph.sentence_length.of(graph.passage_sentences.of(number));
    properties.put("sentenceLengths", Value::Integers(lengths.iter().copied().map(i64::from).collect()));
    properties.put(EMBEDDING, embedding(&source.vectors.passages, number.0));
    properties.put(VECTORS, Value::Bytes(vectors(source, number)));
    Ok(Element { key: *passage.passage.as_bytes(), ends: None, properties })
}

fn bounds(span: &Span) -> [i64; 2] {
    [span.start.into(), span.end.into()]
}

/// Returns the vectors of a passage and of its sentences as the workspace keeps them, each a scale and its codes.
fn vectors(source: &Source<'_>, passage: PassageOrdinal) -> Vec<u8> {
    let mut bytes = Vec::new();
    add_vectors(&source.vectors.passages, passage.index()..passage.index() + 1, &mut bytes);
    add_vectors(&source.vectors.sentences, source.graph.passage_sentences.of(passage).range(), &mut bytes);
    bytes
}

/// Returns the first words of a text on one line, to be shown on a node.
fn beginning(text: &str) -> String {
    let mut name = String::new();
    for word in text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)) {
        if name.chars().count() + word.chars().count() >= NAME_CHARACTERS {
            name.push('…');
            break;
        }
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(word);
    }
    if name.is_empty() { text.chars().take(NAME_CHARACTERS).collect() } else { name }
}

pub(super) const PART_OF: Declaration = Declaration {
    labels: &["PART_OF"],
    ends: Some((Kind::Passage, Kind::Document)),
    properties: &[],
    count: |source| source.graph.passage_count(),
    element: |source, number| {
        let passage = PassageOrdinal(number);
        let document = source.snapshot.document(source.graph.passage_document[passage])?;
        Ok(relationship(Kind::PartOf, source.passage_key(passage), *document.document.as_bytes()))
    },
};

pub(super) const NEXT: Declaration = Declaration {
    labels: &["NEXT"],
    ends: Some((Kind::Passage, Kind::Passage)),
    properties: &[],
    count: |source| source.followed.len(),
    element: |source, number| {
        let passage = source.followed[number as usize];
        Ok(relationship(Kind::Next, source.passage_key(passage), source.passage_key(PassageOrdinal(passage.0 + 1))))
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_named_by_its_first_words() {
        assert_eq!(beginning("# Harl Mill\n\nWas built."), "Harl Mill Was built.");
        let long = beginning(&"word ".repeat(30));
        assert!(long.ends_with("word…") && long.chars().count() <= NAME_CHARACTERS, "{long}");
        assert_eq!(beginning("…"), "…");
    }
}
