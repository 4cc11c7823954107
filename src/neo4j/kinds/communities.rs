//! Relations between entities, and communities of them on levels.

use super::super::element::{Element, Properties, Type, Value, hex, integer};
use super::super::hierarchy::{Quote, put_places};
use super::super::source::{Source, relationship};
use super::{Declaration, Kind};
use crate::error::Result;
use crate::graph::ordinal::{CommunityOrdinal, Ordinal as _};

/// Bytes of the sentence that describes a relation: what is longer is a list or no text, and stands in its passage.
const DESCRIPTION_BYTES_MAX: usize = 2_000;
/// Members that a community names in the order of how central they are.
const CENTRAL_MAX: usize = 24;

pub(super) const COMMUNITY: Declaration = Declaration {
    labels: &["Community"],
    ends: None,
    properties: properties! {
        name: Text, level: Integer, rating: Float, entities: Integer, passages: Integer, summary: Text, findings: Texts,
        citations: Texts, central: Texts, cairnSentences: Integers,
    },
    count: |source| source.hierarchy.communities.len(),
    element: community,
};

fn community(source: &Source<'_>, number: u32) -> Result<Element> {
    let (hierarchy, community) = (&source.hierarchy.hierarchy, CommunityOrdinal(number));
    let (members, quotes) = (hierarchy.members(community), Quote::all(source.snapshot, hierarchy.findings(community))?);
    let mut properties = Properties::default();
    properties.put_text("name", hierarchy.title(community));
    properties.put("level", integer(hierarchy.community_level[community]));
    properties.put("rating", Value::Float(f64::from(hierarchy.rating(community))));
    properties.put("entities", integer(members.len() as u32));
    properties.put("passages", integer(hierarchy.community_passages[community]));
    let central = members.iter().take(CENTRAL_MAX).map(|it| hex(&source.entity_key(*it)));
    properties.put("central", Value::Texts(central.collect()));
    if let Some(first) = quotes.first() {
        properties.put_text("summary", first.text.as_str());
    }
    put_places(&mut properties, &quotes);
    properties.put("findings", Value::Texts(quotes.into_iter().map(|it| it.text).collect()));
    Ok(Element { key: source.hierarchy.communities[number as usize], ends: None, properties })
}

pub(super) const PARENT_COMMUNITY: Declaration = Declaration {
    labels: &["PARENT_COMMUNITY"],
    ends: Some((Kind::Community, Kind::Community)),
    properties: &[],
    count: |source| source.hierarchy.nested.len(),
    element: |source, number| {
        let (part, whole) = source.hierarchy.nested[number as usize];
        let [part, whole] = [part, whole].map(|it| source.hierarchy.communities[it.index()]);
        Ok(relationship(Kind::ParentCommunity, part, whole))
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
        Ok(relationship(Kind::InCommunity, source.entity_key(entity), community))
    },
};

pub(super) const RELATES_TO: Declaration = Declaration {
    labels: &["RELATES_TO"],
    ends: Some((Kind::Entity, Kind::Entity)),
    properties: properties! { weight: Float, description: Text, passage: Text, cairnSentence: Integer },
    count: |source| source.hierarchy.relations.len(),
    element: relation,
};

fn relation(source: &Source<'_>, number: u32) -> Result<Element> {
    let ([from, to], weight, said) = source.hierarchy.relations[number as usize];
    let mut element = relationship(Kind::RelatesTo, source.entity_key(from), source.entity_key(to));
    element.properties.put("weight", Value::Float(f64::from(weight)));
    if let Some(said) = said {
        let Quote { text, passage, number } = Quote::of(source.snapshot, said)?;
        if text.len() <= DESCRIPTION_BYTES_MAX {
            element.properties.put_text("description", text);
        }
        element.properties.put_text("passage", passage.to_string());
        element.properties.put("cairnSentence", integer(number));
    }
    Ok(element)
}
