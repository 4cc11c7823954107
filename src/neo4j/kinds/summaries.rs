//! Layers of summary entities over the entities, and what each summarizes.
//!
//! They do not also have the label `Entity`: mentions, names and documents of entities are about names in texts, and
//! statements about these should find nothing else. `SUMMARIZED_BY` comes from entities and from summary entities: two
//! kinds of one type, since a kind has one label at each end, by which its ends are found.

use super::super::element::{Element, Key, Properties, Type, Value, integer};
use super::super::hierarchy::{Quote, places_on_one_line, put_places};
use super::super::source::{Source, relationship};
use super::{Declaration, Kind};
use crate::domain::Origin;
use crate::error::Result;
use crate::graph::descriptions::SummaryAspect;
use crate::graph::ordinal::{Ordinal as _, SummaryOrdinal};

pub(super) const SUMMARY: Declaration = Declaration {
    labels: &["Summary"],
    ends: None,
    properties: properties! {
        name: Text, layer: Integer, members: Integer, description: Text, types: Texts, citations: Texts, origin: Text,
        cairnSentences: Integers, cairnCited: Integers, cairnTitle: Text, cairnFindings: Texts, cairnAspects: Texts,
    },
    count: |source| source.hierarchy.summaries.len(),
    element: summary,
};

fn summary(source: &Source<'_>, number: u32) -> Result<Element> {
    let (hierarchy, summary) = (&source.hierarchy.hierarchy, SummaryOrdinal(number));
    let quotes = Quote::all(source.snapshot, hierarchy.sentences(summary))?;
    let mut properties = Properties::default();
    properties.put("layer", integer(hierarchy.summary_layer[summary]));
    properties.put("members", integer(hierarchy.summary_members.of(summary).len() as u32));
    let aspects = source.descriptions.iter().flat_map(|it| it.aspects(summary));
    let aspects: Vec<SummaryAspect<'_>> = aspects.collect();
    if aspects.is_empty() {
        properties.put_text("origin", Origin::Rule.name());
        properties.put_text("name", hierarchy.summary_name(summary));
        if !quotes.is_empty() {
            let texts: Vec<&str> = quotes.iter().map(|it| it.text.as_str()).collect();
            properties.put_text("description", texts.join(" "));
        }
        put_places(&mut properties, &quotes);
    } else {
        properties.put_text("origin", Origin::Model.name());
        properties.put_text("cairnTitle", hierarchy.summary_name(summary));
        properties.put("cairnFindings", places_on_one_line(&quotes));
        put_aspects(source, &aspects, &mut properties)?;
    }
    Ok(Element { key: source.hierarchy.summaries[number as usize], ends: None, properties })
}

/// Replaces the rules' texts about a summary entity by a model's summaries.
fn put_aspects(source: &Source<'_>, aspects: &[SummaryAspect<'_>], properties: &mut Properties) -> Result<()> {
    let joined = |of: fn(&SummaryAspect<'_>) -> String, by: &str| aspects.iter().map(of).collect::<Vec<_>>().join(by);
    properties.put_text("name", joined(|it| it.name.to_owned(), "; "));
    properties.put_text("description", joined(|it| format!("{}: {}", it.name, it.description), "\n"));
    let types = aspects.iter().filter_map(|it| it.kind.map(str::to_owned));
    properties.put("types", Value::Texts(types.collect()));
    let texts = aspects.iter().flat_map(|it| [it.name, it.kind.unwrap_or_default(), it.description]);
    properties.put("cairnAspects", Value::Texts(texts.map(str::to_owned).collect()));
    let cited = aspects.iter().map(|it| i64::from(it.sentences.len() as u32));
    properties.put("cairnCited", Value::Integers(cited.collect()));
    let sentences: Vec<_> = aspects.iter().flat_map(|it| it.sentences).copied().collect();
    put_places(properties, &Quote::all(source.snapshot, &sentences)?);
    Ok(())
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
        Ok(summarized(source, source.entity_key(entity), summary, weight))
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
        Ok(summarized(source, below, summary, weight))
    },
};

fn summarized(source: &Source<'_>, member: Key, summary: SummaryOrdinal, weight: f32) -> Element {
    let mut element = relationship(member, source.hierarchy.summaries[summary.index()]);
    element.properties.put("weight", Value::Float(f64::from(weight)));
    element
}
