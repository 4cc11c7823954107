//! Layers of summary entities over the entities, and what each summarizes.
//!
//! The label is theirs alone, not one beside `Entity`: what is said of entities (mentions, names, documents) is said of
//! what texts name, and statements about them are not to find anything else. `SUMMARIZED_BY` comes from entities and
//! from summary entities: two kinds of one type, since a kind has one label at each end, by which its ends are found.

use super::super::element::{Element, Key, Properties, Type, Value, integer};
use super::super::hierarchy::{Quote, put_places};
use super::super::source::{Source, relationship};
use super::{Declaration, Kind};
use crate::error::Result;
use crate::graph::ordinal::{Ordinal as _, SummaryOrdinal};

pub(super) const SUMMARY: Declaration = Declaration {
    labels: &["Summary"],
    ends: None,
    properties: properties! {
        name: Text, layer: Integer, members: Integer, description: Text, citations: Texts, cairnSentences: Integers,
    },
    count: |source| source.hierarchy.summaries.len(),
    element: summary,
};

fn summary(source: &Source<'_>, number: u32) -> Result<Element> {
    let (hierarchy, summary) = (&source.hierarchy.hierarchy, SummaryOrdinal(number));
    let quotes = Quote::all(source.snapshot, hierarchy.sentences(summary))?;
    let mut properties = Properties::default();
    properties.put_text("name", hierarchy.summary_name(summary));
    properties.put("layer", integer(hierarchy.summary_layer[summary]));
    properties.put("members", integer(hierarchy.summary_members.of(summary).len() as u32));
    if !quotes.is_empty() {
        let texts: Vec<&str> = quotes.iter().map(|it| it.text.as_str()).collect();
        properties.put_text("description", texts.join(" "));
    }
    put_places(&mut properties, &quotes);
    Ok(Element { key: source.hierarchy.summaries[number as usize], ends: None, properties })
}

/// What `SUMMARIZED_BY` has, whatever it comes from.
const MEMBERSHIP: &[(&str, Type)] = properties! { weight: Float };

pub(super) const SUMMARIZED_ENTITY: Declaration = Declaration {
    labels: &["SUMMARIZED_BY"],
    ends: Some((Kind::Entity, Kind::Summary)),
    properties: MEMBERSHIP,
    count: |source| source.hierarchy.summarized_entities.len(),
    element: |source, number| {
        let (entity, summary, weight) = source.hierarchy.summarized_entities[number as usize];
        Ok(summarized(source, Kind::SummarizedEntity, source.entity_key(entity), summary, weight))
    },
};

pub(super) const SUMMARIZED_SUMMARY: Declaration = Declaration {
    labels: &["SUMMARIZED_BY"],
    ends: Some((Kind::Summary, Kind::Summary)),
    properties: MEMBERSHIP,
    count: |source| source.hierarchy.summarized_summaries.len(),
    element: |source, number| {
        let (below, summary, weight) = source.hierarchy.summarized_summaries[number as usize];
        let below = source.hierarchy.summaries[below.index()];
        Ok(summarized(source, Kind::SummarizedSummary, below, summary, weight))
    },
};

fn summarized(source: &Source<'_>, kind: Kind, member: Key, summary: SummaryOrdinal, weight: f32) -> Element {
    let mut element = relationship(kind, member, source.hierarchy.summaries[summary.index()]);
    element.properties.put("weight", Value::Float(f64::from(weight)));
    element
}
