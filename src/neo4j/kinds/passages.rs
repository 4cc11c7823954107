//! Passages, and their positions.

use super::super::element::{EMBEDDING, Element, Properties, SPANS, Type, VECTORS, Value, integer};
use super::super::source::{Source, add_vectors, embedding, relationship};
use super::super::spans::Spans;
use super::{Declaration, Kind, documents};
use crate::error::Result;
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};
use crate::store::GraphReader as _;

/// The separator of the headings of a section.
const BELOW: &str = " › ";

pub(super) const PASSAGE: Declaration = Declaration {
    labels: &["Passage"],
    ends: None,
    properties: properties! {
        name: Text, title: Text, section: Text, page: Integer, line: Integer, column: Integer, source: Text,
        position: Integer, text: Text, keywords: Texts, embedding: Floats, cairnSpans: Bytes, cairnVectors: Bytes,
    },
    count: |source| source.graph.passage_count(),
    element: passage,
};

fn passage(source: &Source<'_>, number: u32) -> Result<Element> {
    let (graph, number) = (&source.graph, PassageOrdinal(number));
    let document = graph.passage_document[number];
    let of_document = graph.document_passages.of(document).range();
    let position = (number.index() + 1 - of_document.start) as u32;
    let (passage, document) = (source.snapshot.passage(number)?, source.snapshot.document(document)?);
    let spans = Spans {
        own: passage.span,
        length: graph.passage_length[number],
        sentences: passage.sentences,
        sentence_lengths: graph.sentence_length.of(graph.passage_sentences.of(number)).to_vec(),
    };
    let called = documents::name(document.title.as_deref(), &document.source_id);
    let mut properties = Properties::default();
    properties.put_text("name", name(called, passage.section.as_deref(), position, of_document.len()));
    properties.put_text("title", document.caption());
    if let Some(section) = passage.section {
        properties.put_text("section", section);
    }
    for (name, number) in [("page", passage.page), ("line", passage.line), ("column", passage.column)] {
        if let Some(number) = number {
            properties.put(name, integer(number));
        }
    }
    properties.put_text("source", &*document.source_id);
    properties.put("position", integer(position));
    properties.put_text("text", passage.text);
    properties.put("keywords", source.keywords(graph.passage_keywords, graph.passage_keyword, number));
    properties.put(EMBEDDING, embedding(&source.vectors.passages, number.0));
    properties.put(SPANS, spans.to_value());
    properties.put(VECTORS, Value::Bytes(vectors(source, number)));
    Ok(Element { key: *passage.passage.as_bytes(), ends: None, properties })
}

/// Returns the short name of a passage: that of its document, and its position in a document of several. A section does
/// not repeat the title above it.
fn name(document: &str, section: Option<&str>, position: u32, of: usize) -> String {
    let below = |section| str::strip_prefix(section, document).and_then(|it| it.strip_prefix(BELOW)).unwrap_or(section);
    match section.map(below).filter(|it| *it != document) {
        _ if of == 1 => document.to_owned(),
        Some(section) => format!("{document}: {section}"),
        None => format!("{document} {position}"),
    }
}

/// Returns the vectors of a passage and of its sentences as the workspace keeps them, each a scale and its codes.
fn vectors(source: &Source<'_>, passage: PassageOrdinal) -> Vec<u8> {
    let mut bytes = Vec::new();
    add_vectors(&source.vectors.passages, passage.index()..passage.index() + 1, &mut bytes);
    add_vectors(&source.vectors.sentences, source.graph.passage_sentences.of(passage).range(), &mut bytes);
    bytes
}

pub(super) const PART_OF: Declaration = Declaration {
    labels: &["PART_OF"],
    ends: Some((Kind::Passage, Kind::Document)),
    properties: &[],
    count: |source| source.graph.passage_count(),
    element: |source, number| {
        let passage = PassageOrdinal(number);
        let document = source.snapshot.document(source.graph.passage_document[passage])?;
        Ok(relationship(source.passage_key(passage), *document.document.as_bytes()))
    },
};

pub(super) const NEXT: Declaration = Declaration {
    labels: &["NEXT"],
    ends: Some((Kind::Passage, Kind::Passage)),
    properties: &[],
    count: |source| source.followed.len(),
    element: |source, number| {
        let passage = source.followed[number as usize];
        Ok(relationship(source.passage_key(passage), source.passage_key(PassageOrdinal(passage.0 + 1))))
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_is_called_by_its_document_and_its_section_or_place() {
        assert_eq!(name("Harl Mill", Some("History"), 1, 1), "Harl Mill");
        assert_eq!(name("Harl Mill", Some("History"), 2, 3), "Harl Mill: History");
        assert_eq!(name("Harl Mill", Some("Harl Mill"), 1, 3), "Harl Mill 1");
        assert_eq!(name("Harl Mill", None, 3, 3), "Harl Mill 3");
        // The title occurs once.
        assert_eq!(name("Harl Mill", Some("Harl Mill › History"), 2, 3), "Harl Mill: History");
        assert_eq!(name("Harl Mill", Some("Harl Mills"), 2, 3), "Harl Mill: Harl Mills");
    }

    #[test]
    fn a_document_without_a_title_is_called_by_the_end_of_its_path() {
        // Pictures cut long captions, and the end of a path distinguishes it from others.
        assert_eq!(documents::name(None, "notes/mills/harl.txt"), "harl.txt");
        assert_eq!(documents::name(Some(""), "https://example.org/mills/"), "mills");
        assert_eq!(documents::name(Some("Harl Mill"), "notes/mills/harl.txt"), "Harl Mill");
        assert_eq!(documents::name(None, "/"), "/");
    }
}
