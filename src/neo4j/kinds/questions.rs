//! Questions, their passages, and the edges that they form.

use super::super::element::{EMBEDDING, Element, Properties, Type, Value};
use super::super::source::{Source, embedding, relationship};
use super::{Declaration, Kind};
use crate::graph::ordinal::{EdgeOrdinal, IncomingOrdinal, Ordinal as _, OutgoingOrdinal};
use crate::store::GraphReader as _;

pub(super) const INCOMING: Declaration = Declaration {
    labels: &["Question", "Incoming"],
    ends: None,
    properties: properties! { name: Text, keywords: Texts, origin: Text, embedding: Floats, cairnPlace: Integers },
    count: |source| source.graph.incoming_passage.len(),
    element: |source, number| Ok(incoming(source, number)),
};

fn incoming(source: &Source<'_>, number: u32) -> Element {
    let (graph, number) = (&source.graph, IncomingOrdinal(number));
    let keywords = source.keywords(graph.incoming_keywords, graph.incoming_keyword, number);
    let place = number.0 - graph.passage_incoming.of(graph.incoming_passage[number]).range().start as u32;
    let place = [place, graph.incoming_sentence[number]];
    let mut properties = question(source.snapshot.incoming(number), keywords, place);
    properties.put_text("origin", source.snapshot.incoming_origin(number).name());
    properties.put(EMBEDDING, embedding(&source.vectors.incoming, number.0));
    Element { key: *source.snapshot.incoming_id(number).as_bytes(), ends: None, properties }
}

pub(super) const OUTGOING: Declaration = Declaration {
    labels: &["Question", "Outgoing"],
    ends: None,
    properties: properties! { name: Text, keywords: Texts, origin: Text, cairnPlace: Integers },
    count: |source| source.snapshot.outgoing_passages().len(),
    element: |source, number| Ok(outgoing(source, number)),
};

fn outgoing(source: &Source<'_>, number: u32) -> Element {
    let (graph, number) = (&source.graph, OutgoingOrdinal(number));
    let keywords = source.keywords(graph.outgoing_keywords, graph.outgoing_keyword, number);
    let passages = source.snapshot.outgoing_passages();
    let place = number.0 - passages.partition_point(|it| *it < passages[number]) as u32;
    let place = [place, graph.outgoing_sentence[number]];
    let mut properties = question(source.snapshot.outgoing(number), keywords, place);
    properties.put_text("origin", source.snapshot.outgoing_origin(number).name());
    Element { key: *source.snapshot.outgoing_id(number).as_bytes(), ends: None, properties }
}

/// Returns what questions of either kind have; `place` is its number among those of its passage, and its sentence.
fn question(text: &str, keywords: Value, place: [u32; 2]) -> Properties {
    let mut properties = Properties::default();
    properties.put_text("name", text);
    properties.put("keywords", keywords);
    properties.put("cairnPlace", Value::Integers(place.map(i64::from).to_vec()));
    properties
}

pub(super) const ANSWERED_BY: Declaration = Declaration {
    labels: &["ANSWERED_BY"],
    ends: Some((Kind::Incoming, Kind::Passage)),
    properties: &[],
    count: |source| source.graph.incoming_passage.len(),
    element: |source, number| {
        let number = IncomingOrdinal(number);
        let passage = source.passage_key(source.graph.incoming_passage[number]);
        Ok(relationship(*source.snapshot.incoming_id(number).as_bytes(), passage))
    },
};

pub(super) const ASKS: Declaration = Declaration {
    labels: &["ASKS"],
    ends: Some((Kind::Passage, Kind::Outgoing)),
    properties: &[],
    count: |source| source.snapshot.outgoing_passages().len(),
    element: |source, number| {
        let number = OutgoingOrdinal(number);
        let passage = source.passage_key(source.snapshot.outgoing_passages()[number]);
        Ok(relationship(passage, *source.snapshot.outgoing_id(number).as_bytes()))
    },
};

/// SIM of the questions of an edge at least for the one to be taken for an answer to the other.
pub(in crate::neo4j) const SIMILARITY_LEAST: f32 = 0.5;

/// The properties of an edge, strong or weak.
const EDGE: &[(&str, Type)] = properties! {
    question: Text, similarity: Float, keywords: Texts, cairnIncoming: Text, cairnOutgoing: Text,
};

pub(super) const LEADS_TO: Declaration = Declaration {
    labels: &["LEADS_TO"],
    ends: Some((Kind::Passage, Kind::Passage)),
    properties: EDGE,
    count: |source| source.strong_edges.len(),
    element: |source, number| Ok(edge(source, source.strong_edges[number as usize])),
};

/// The similarity below which one question hardly asks what the other answers.
pub(super) const MAY_LEAD_TO: Declaration = Declaration {
    labels: &["MAY_LEAD_TO"],
    ends: Some((Kind::Passage, Kind::Passage)),
    properties: EDGE,
    count: |source| source.weak_edges.len(),
    element: |source, number| Ok(edge(source, source.weak_edges[number as usize])),
};

fn edge(source: &Source<'_>, at: EdgeOrdinal) -> Element {
    let graph = &source.graph;
    let (from, to) = (source.passage_key(source.edge_from[at.index()]), source.passage_key(graph.edge_target[at]));
    let (incoming, outgoing) = (graph.edge_incoming[at], graph.edge_outgoing[at]);
    let mut element = relationship(from, to);
    let properties = &mut element.properties;
    properties.put_text("question", source.snapshot.incoming(incoming));
    properties.put("similarity", Value::Float(graph.edge_similarity[at].into()));
    properties.put("keywords", source.keywords(graph.edge_keywords, graph.edge_keyword, at));
    properties.put_text("cairnIncoming", source.snapshot.incoming_id(incoming).to_string());
    properties.put_text("cairnOutgoing", source.snapshot.outgoing_id(outgoing).to_string());
    element
}

/// A question that a passage raises, and the one that another answers: what a question edge is made of.
pub(super) const MATCHED_WITH: Declaration = Declaration {
    labels: &["MATCHED_WITH"],
    ends: Some((Kind::Outgoing, Kind::Incoming)),
    properties: properties! { similarity: Float },
    count: |source| source.strong_edges.len(),
    element: |source, number| Ok(matched(source, source.strong_edges[number as usize])),
};

fn matched(source: &Source<'_>, at: EdgeOrdinal) -> Element {
    let graph = &source.graph;
    let outgoing = *source.snapshot.outgoing_id(graph.edge_outgoing[at]).as_bytes();
    let incoming = *source.snapshot.incoming_id(graph.edge_incoming[at]).as_bytes();
    let mut element = relationship(outgoing, incoming);
    element.properties.put("similarity", Value::Float(graph.edge_similarity[at].into()));
    element
}
