//! The lexicon: statistics of single words over the whole collection.

use super::super::element::{Element, Properties, Type, Value};
use super::{Declaration, HIDDEN};
use crate::domain::EntityId;
use crate::error::Result;
use crate::graph::packed::text_at;
use crate::store::GraphReader as _;
use crate::workspace::Snapshot;

/// The input of the keys of the lexicon's parts.
const KEY: &[u8] = b"lexicon";
/// Terms in a part of the lexicon, about.
const PART_TERMS: usize = 1_024;

pub(super) const LEXICON: Declaration = Declaration {
    labels: &[HIDDEN, "Lexicon"],
    ends: None,
    properties: properties! {
        name: Text, terms: Texts, passages: Integers, sentences: Integers, keywords: Texts,
    },
    count: |source| source.lexicon.len(),
    element: |source, number| Ok(element(&source.lexicon[number as usize], number)),
};

/// A part of the statistics of single words over the whole collection.
#[derive(Default)]
pub(in crate::neo4j) struct LexiconPart {
    /// Terms with how many passages and sentences have each.
    terms: Vec<(String, u32, u32)>,
    /// Keywords of questions that are not names.
    keywords: Vec<String>,
}

/// Returns the lexicon of a version in parts: a term stays in its part as long as there are about as many terms.
pub(in crate::neo4j) fn parts(snapshot: &Snapshot) -> Result<Vec<LexiconPart>> {
    let mut terms = Vec::new();
    snapshot.each_term(&mut |term, passages, sentences| terms.push((term.to_owned(), passages, sentences)))?;
    let count = terms.len().div_ceil(PART_TERMS).next_power_of_two();
    let mut parts: Vec<LexiconPart> = std::iter::repeat_with(LexiconPart::default).take(count).collect();
    let part = |text: &str| {
        let hash = blake3::hash(text.as_bytes());
        usize::from(u16::from_le_bytes([hash.as_bytes()[0], hash.as_bytes()[1]])) % count
    };
    for term in terms {
        parts[part(&term.0)].terms.push(term);
    }
    let graph = snapshot.graph();
    for keyword in graph.keyword_ends.ordinals() {
        let text = text_at(&graph.keyword_ends, graph.keyword_texts.items(), keyword);
        if graph.entities(text).is_empty() {
            parts[part(text)].keywords.push(text.to_owned());
        }
    }
    Ok(parts)
}

fn element(part: &LexiconPart, number: u32) -> Element {
    let mut properties = Properties::default();
    properties.put_text("name", format!("terms, part {number}"));
    properties.put("terms", Value::Texts(part.terms.iter().map(|it| it.0.clone()).collect()));
    properties.put("passages", Value::Integers(part.terms.iter().map(|it| it.1.into()).collect()));
    properties.put("sentences", Value::Integers(part.terms.iter().map(|it| it.2.into()).collect()));
    properties.put("keywords", Value::Texts(part.keywords.clone()));
    Element { key: *EntityId::of(&[KEY, &number.to_le_bytes()]).as_bytes(), ends: None, properties }
}
