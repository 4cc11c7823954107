//! Entities: where each is mentioned, and which documents have its name.

use super::super::element::{Element, NO_WORD, Properties, Type, Value, integer};
use super::super::source::{SameAs, Source, relationship};
use super::{Declaration, Kind};
use crate::domain::Origin;
use crate::error::Result;
use crate::graph::ordinal::{CueOrdinal, EntityOrdinal, MentionOrdinal, Ordinal as _};
use crate::graph::packed::{CUES_BEFORE, NO_CUE, text_at};
use crate::store::GraphReader as _;

pub(super) const ENTITY: Declaration = Declaration {
    labels: &["Entity"],
    ends: None,
    properties: properties! {
        name: Text, folded: Text, aliases: Texts, type: Text, typeOrigin: Text, description: Text, origin: Text,
        documents: Integer, mentions: Integer, bearers: Integer, cairnFlags: Integer, cairnMentioning: Integer,
    },
    count: |source| source.graph.entity_documents.len(),
    element: |source, number| Ok(entity(source, number)),
};

fn entity(source: &Source<'_>, number: u32) -> Element {
    let (graph, number) = (&source.graph, EntityOrdinal(number));
    let mut properties = Properties::default();
    properties.put_text("name", &*source.spellings[number.index()]);
    properties.put_text("folded", graph.entity_name(number));
    properties.put("documents", integer(graph.entity_documents[number]));
    properties.put("mentions", integer(graph.entity_mentions.of(number).len() as u32));
    properties.put("bearers", integer(graph.entity_bearers.of(number).len() as u32));
    properties.put("cairnFlags", integer(graph.entity_flags[number]));
    let mentioning = source.mentioning.get(number.index()).copied();
    if let Some(mentioning) = mentioning.filter(|it| *it != graph.entity_documents[number]) {
        properties.put("cairnMentioning", integer(mentioning));
    }
    let aliases = source.aliases.get(&number).into_iter().flatten().map(|it| source.spellings[it.index()].clone());
    properties.put("aliases", Value::Texts(aliases.collect()));
    let by_model = source.descriptions.and_then(|it| it.entity_type(number)).map(|it| (it, Origin::Model));
    let by_rule = || Some((source.resolution?.type_of(number)?.0.name(), Origin::Rule));
    if let Some((kind, origin)) = by_model.or_else(by_rule) {
        properties.put_text("type", kind);
        properties.put_text("typeOrigin", origin.name());
    }
    if let Some(descriptions) = source.descriptions {
        properties.put_text("origin", descriptions.entity_origin(number).name());
        descriptions.entity_description(number).into_iter().for_each(|it| properties.put_text("description", it));
    }
    Element { key: source.entity_key(number), ends: None, properties }
}

pub(super) const MENTIONED_IN: Declaration = Declaration {
    labels: &["MENTIONED_IN"],
    ends: Some((Kind::Entity, Kind::Passage)),
    properties: properties! { cairnCues: Texts, cairnOrigins: Texts },
    count: |source| source.mentions.len(),
    element: |source, number| Ok(mentioned(source, number)),
};

/// Returns all mentions of an entity in a passage.
fn mentioned(source: &Source<'_>, number: u32) -> Element {
    let graph = &source.graph;
    let (passage, found) = source.mentions[number as usize].clone();
    let entity = graph.mention_entity.of(found.clone())[0];
    let first = graph.passage_sentences.of(passage).range().start as u32;
    let sentence = |mention: MentionOrdinal| graph.mention_sentence[mention].0 - first;
    let mut element = relationship(source.entity_key(entity), source.passage_key(passage));
    if let Some(descriptions) = source.descriptions {
        let origins = found.clone().map(|mention| descriptions.mention_origin(mention).name().to_owned());
        element.properties.put("cairnOrigins", Value::Texts(origins.collect()));
    }
    let cues = found.map(|mention| format!("{} {}", sentence(mention), cues(source, mention)).trim_end().to_owned());
    element.properties.put("cairnCues", Value::Texts(cues.collect()));
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
    properties: properties! { kind: Text },
    count: |source| source.names.len(),
    element: |source, number| Ok(name(source, number)),
};

/// Returns the target of a name: the passage that represents it in a document with that name.
fn name(source: &Source<'_>, number: u32) -> Element {
    let (passage, entity, kind) = source.names[number as usize];
    let (entity, passage) = (source.entity_key(entity), source.passage_key(passage));
    let mut element = relationship(entity, passage);
    element.properties.put_text("kind", borne_text(kind));
    element
}

pub(super) const SAME_AS: Declaration = Declaration {
    labels: &["SAME_AS"],
    ends: Some((Kind::Entity, Kind::Entity)),
    properties: properties! { reason: Text, documents: Integer, sources: Texts, cairnDocuments: Texts },
    count: |source| source.same.len(),
    element: |source, number| same_as(source, &source.same[number as usize]),
};

/// Maximum documents listed if a name stands for an entity in some documents.
const SOURCES_MAX: usize = 24;

/// Returns the merge of a name into the entity of another, everywhere or in documents.
fn same_as(source: &Source<'_>, same: &SameAs) -> Result<Element> {
    let [name, entity] = same.ends.map(|it| source.entity_key(it));
    let mut element = relationship(name, entity);
    element.properties.put_text("reason", same.reason.name());
    if !same.documents.is_empty() {
        element.properties.put("documents", integer(same.documents.len() as u32));
        let named = same.documents.iter().take(SOURCES_MAX);
        let named = named.map(|it| source.snapshot.document(*it).map(|document| document.source_id));
        element.properties.put("sources", Value::Texts(named.collect::<Result<_>>()?));
        if same.documents.len() > SOURCES_MAX {
            let ids = same.documents.iter().map(|it| Ok(source.snapshot.document(*it)?.document.to_string()));
            element.properties.put("cairnDocuments", Value::Texts(ids.collect::<Result<_>>()?));
        }
    }
    Ok(element)
}

/// How a document has a name, by its number in a graph.
const BORNE: [&str; 6] = ["title", "bare title", "before comma", "lead", "main", "first"];

/// Returns the word for how a name is borne.
pub(in crate::neo4j) fn borne_text(kind: u32) -> &'static str {
    BORNE.get(kind as usize).copied().unwrap_or_default()
}

/// Returns how a name is borne, of the word for it.
pub(in crate::neo4j) fn borne(text: &str) -> Option<u32> {
    (0..).zip(BORNE).find(|(_, it)| *it == text).map(|(kind, _)| kind)
}
