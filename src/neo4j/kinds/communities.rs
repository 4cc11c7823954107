//! Relations between entities, and communities of them on levels.

use super::super::element::{Element, Properties, Type, Value, hex, integer};
use super::super::hierarchy::{Quote, places_on_one_line, put_places};
use super::super::source::{Source, relationship};
use super::{Declaration, Kind};
use crate::domain::Origin;
use crate::error::Result;
use crate::graph::descriptions::{Descriptions, Report};
use crate::graph::ordinal::{CommunityOrdinal, Ordinal as _, RelationOrdinal};

/// Maximum bytes of the sentence that describes a relation: longer ones are lists or not text, and remain in their
/// passage.
const DESCRIPTION_BYTES_MAX: usize = 2_000;
/// Members that a community names in the order of how central they are.
const CENTRAL_MAX: usize = 24;

pub(super) const COMMUNITY: Declaration = Declaration {
    labels: &["Community"],
    ends: None,
    properties: properties! {
        name: Text, level: Integer, rating: Float, entities: Integer, passages: Integer, summary: Text, findings: Texts,
        citations: Texts, origin: Text, central: Texts, cairnSentences: Integers, cairnCited: Integers,
        cairnTitle: Text, cairnFindings: Texts,
    },
    count: |source| source.hierarchy.communities.len(),
    element: community,
};

fn community(source: &Source<'_>, number: u32) -> Result<Element> {
    let (hierarchy, community) = (&source.hierarchy.hierarchy, CommunityOrdinal(number));
    let members = hierarchy.members(community);
    let mut properties = Properties::default();
    properties.put("level", integer(hierarchy.community_level[community]));
    properties.put("entities", integer(members.len() as u32));
    properties.put("passages", integer(hierarchy.community_passages[community]));
    let central = members.iter().take(CENTRAL_MAX).map(|it| hex(&source.entity_key(*it)));
    properties.put("central", Value::Texts(central.collect()));
    let report = source.descriptions.and_then(|it| Some((it, it.report(community)?)));
    properties.put_text("origin", if report.is_some() { Origin::Model } else { Origin::Rule }.name());
    let quotes = Quote::all(source.snapshot, hierarchy.findings(community))?;
    if let Some((descriptions, report)) = report {
        properties.put_text("cairnTitle", hierarchy.title(community));
        properties.put("cairnFindings", places_on_one_line(&quotes));
        put_report(source, &descriptions, report, &mut properties)?;
    } else {
        properties.put_text("name", hierarchy.title(community));
        properties.put("rating", Value::Float(f64::from(hierarchy.rating(community))));
        quotes.first().into_iter().for_each(|it| properties.put_text("summary", it.text.as_str()));
        put_places(&mut properties, &quotes);
        properties.put("findings", Value::Texts(quotes.into_iter().map(|it| it.text).collect()));
    }
    Ok(Element { key: source.hierarchy.communities[number as usize], ends: None, properties })
}

/// Replaces the rules' texts about a community by a model's.
fn put_report(
    source: &Source<'_>,
    descriptions: &Descriptions<'_>,
    report: Report<'_>,
    properties: &mut Properties,
) -> Result<()> {
    properties.put_text("name", report.title);
    properties.put_text("summary", report.summary);
    properties.put("rating", Value::Float(f64::from(descriptions.rating(report))));
    let (mut findings, mut cited, mut quotes) = (Vec::new(), Vec::new(), Vec::new());
    for (text, sentences) in descriptions.findings(report) {
        findings.push(text.to_owned());
        cited.push(i64::from(sentences.len() as u32));
        quotes.extend(Quote::all(source.snapshot, sentences)?);
    }
    properties.put("findings", Value::Texts(findings));
    properties.put("cairnCited", Value::Integers(cited));
    put_places(properties, &quotes);
    Ok(())
}

pub(super) const PARENT_COMMUNITY: Declaration = Declaration {
    labels: &["PARENT_COMMUNITY"],
    ends: Some((Kind::Community, Kind::Community)),
    properties: &[],
    count: |source| source.hierarchy.nested.len(),
    element: |source, number| {
        let (part, whole) = source.hierarchy.nested[number as usize];
        let [part, whole] = [part, whole].map(|it| source.hierarchy.communities[it.index()]);
        Ok(relationship(part, whole))
    },
};

pub(super) const IN_COMMUNITY: Declaration = Declaration {
    labels: &["IN_COMMUNITY"],
    ends: Some((Kind::Entity, Kind::Community)),
    properties: &[],
    count: |source| source.hierarchy.members.len(),
    element: |source, number| {
        let (entity, community) = source.hierarchy.members[number as usize];
        let community = source.hierarchy.communities[community.index()];
        Ok(relationship(source.entity_key(entity), community))
    },
};

pub(super) const RELATES_TO: Declaration = Declaration {
    labels: &["RELATES_TO"],
    ends: Some((Kind::Entity, Kind::Entity)),
    properties: properties! {
        weight: Float, description: Text, sentence: Text, origin: Text, passage: Text, cairnSentence: Integer,
        cairnDescribed: Flag,
    },
    count: |source| source.hierarchy.relations.len(),
    element: relation,
};

fn relation(source: &Source<'_>, number: u32) -> Result<Element> {
    let ([from, to], weight, said) = source.hierarchy.relations[number as usize];
    let mut element = relationship(source.entity_key(from), source.entity_key(to));
    element.properties.put("weight", Value::Float(f64::from(weight)));
    let relation = RelationOrdinal(number);
    let described = source.descriptions.and_then(|it| it.relation_description(relation));
    if let Some(described) = described {
        element.properties.put_text("description", described);
        element.properties.put("cairnDescribed", Value::Flag(true));
    }
    if let Some(descriptions) = source.descriptions {
        element.properties.put_text("origin", descriptions.relation_origin(relation).name());
    }
    if let Some(said) = said {
        let Quote { text, passage, number } = Quote::of(source.snapshot, said)?;
        if text.len() <= DESCRIPTION_BYTES_MAX {
            element.properties.put_text(if described.is_some() { "sentence" } else { "description" }, text);
        }
        element.properties.put_text("passage", passage.to_string());
        element.properties.put("cairnSentence", integer(number));
    }
    Ok(element)
}
