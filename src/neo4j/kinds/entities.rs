//! Entities: where each is mentioned, and who bears its name.

use super::super::element::{Element, Key, NO_WORD, Properties, Type, Value, integer};
use super::super::source::{Source, relationship};
use super::{Declaration, Kind};
use crate::domain::EdgeId;
use crate::graph::ordinal::{CueOrdinal, EntityOrdinal, MentionOrdinal};
use crate::graph::packed::{CUES_BEFORE, NO_CUE, entity_flag, text_at};

pub(super) const ENTITY: Declaration = Declaration {
    labels: &["Entity"],
    ends: None,
    properties: properties! {
        name: Text, type: Text, layer: Integer, df: Integer, mentions: Integer, bearers: Integer,
        singleInQuestion: Flag, lowerInQuestion: Flag,
    },
    count: |source| source.graph.entity_documents.len(),
    element: |source, number| Ok(entity(source, number)),
};

fn entity(source: &Source<'_>, number: u32) -> Element {
    let (graph, number) = (&source.graph, EntityOrdinal(number));
    let flags = graph.entity_flags[number];
    let mut properties = Properties::default();
    properties.put_text("name", graph.entity_name(number));
    properties.put_text("type", "name");
    properties.put("layer", Value::Integer(0));
    properties.put("df", integer(graph.entity_documents[number]));
    properties.put("mentions", integer(graph.entity_mentions.of(number).len() as u32));
    properties.put("bearers", integer(graph.entity_bearers.of(number).len() as u32));
    properties.put("singleInQuestion", Value::Flag(flags & entity_flag::SINGLE_IN_QUESTION != 0));
    properties.put("lowerInQuestion", Value::Flag(flags & entity_flag::LOWER_IN_QUESTION != 0));
    Element { key: source.entity_key(number), ends: None, properties }
}

pub(super) const MENTIONED_IN: Declaration = Declaration {
    labels: &["MENTIONED_IN"],
    ends: Some((Kind::Entity, Kind::Passage)),
    properties: properties! { sentences: Integers, cues: Texts },
    count: |source| source.mentions.len(),
    element: |source, number| Ok(mentioned(source, number)),
};

/// Returns all mentions of an entity in a passage.
fn mentioned(source: &Source<'_>, number: u32) -> Element {
    let graph = &source.graph;
    let (passage, found) = source.mentions[number as usize].clone();
    let entity = graph.mention_entity.of(found.clone())[0];
    let first = graph.passage_sentences.of(passage).range().start as u32;
    let sentences = graph.mention_sentence.of(found.clone()).iter().map(|it| i64::from(it.0 - first)).collect();
    let mut element = relationship(Kind::MentionedIn, source.entity_key(entity), source.passage_key(passage));
    element.properties.put("sentences", Value::Integers(sentences));
    element.properties.put("cues", Value::Texts(found.map(|mention| cues(source, mention)).collect()));
    element
}

/// Returns the words around a mention: those before it, the nearest first, a bar, those after it; a word that says
/// nothing is [`NO_WORD`].
fn cues(source: &Source<'_>, mention: MentionOrdinal) -> String {
    let graph = &source.graph;
    let word = |cue: &CueOrdinal| match *cue {
        NO_CUE => NO_WORD,
        cue => text_at(&graph.cue_ends, graph.cue_prefixes.items(), cue),
    };
    let words = |cues: &[CueOrdinal]| {
        let count = cues.iter().rposition(|cue| *cue != NO_CUE).map_or(0, |last| last + 1);
        cues[..count].iter().map(word).collect::<Vec<_>>().join(" ")
    };
    let (before, after) = graph.cues(mention).split_at(CUES_BEFORE);
    format!("{} | {}", words(before), words(after)).trim().to_owned()
}

pub(super) const NAMES: Declaration = Declaration {
    labels: &["NAMES"],
    ends: Some((Kind::Entity, Kind::Passage)),
    properties: properties! { kind: Integer },
    count: |source| source.names.len(),
    element: |source, number| Ok(name(source, number)),
};

/// Returns where a name leads: to the passage that speaks for it in a document that bears it.
fn name(source: &Source<'_>, number: u32) -> Element {
    let (passage, entity, kind) = source.names[number as usize];
    let (entity, passage) = (source.entity_key(entity), source.passage_key(passage));
    let mut properties = Properties::default();
    properties.put("kind", integer(kind));
    Element { key: names_key(&entity, &passage, kind), ends: Some((entity, passage)), properties }
}

/// Returns the key of a relationship from a name to a passage.
pub(in crate::neo4j) fn names_key(entity: &Key, passage: &Key, kind: u32) -> Key {
    *EdgeId::of(&[Kind::Names.name().as_bytes(), entity, passage, &kind.to_le_bytes()]).as_bytes()
}
