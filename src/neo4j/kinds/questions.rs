//! Questions, what they belong to, and the edges that they make.

use super::super::element::{EMBEDDING, Element, Key, Properties, Type, Value, integer};
use super::super::source::{Source, embedding, relationship};
use super::{Declaration, Kind};
use crate::domain::EdgeId;
use crate::graph::ordinal::{EdgeOrdinal, IncomingOrdinal, Ordinal as _, OutgoingOrdinal};
use crate::store::GraphReader as _;

/// What either kind of questions can have.
const PROPERTIES: &[(&str, Type)] = properties! {
    name: Text, text: Text, keywords: Texts, kind: Text, sentence: Integer, origin: Text, place: Integer,
    embedding: Floats,
};

pub(super) const INCOMING: Declaration = Declaration {
    labels: &["Question", "Incoming"],
    ends: None,
    properties: PROPERTIES,
    count: |source| source.graph.incoming_passage.len(),
    element: |source, number| Ok(incoming(source, number)),
};

fn incoming(source: &Source<'_>, number: u32) -> Element {
    let (graph, number) = (&source.graph, IncomingOrdinal(number));
    let keywords = source.keywords(graph.incoming_keywords, graph.incoming_keyword, number);
    let mut properties =
        question("incoming", source.snapshot.incoming(number), keywords, graph.incoming_sentence[number]);
    properties.put_text("origin", source.snapshot.incoming_origin(number).name());
    let first = graph.passage_incoming.of(graph.incoming_passage[number]).range().start;
    properties.put("place", integer(number.0 - first as u32));
    properties.put(EMBEDDING, embedding(&source.vectors.incoming, number.0));
    Element { key: *source.snapshot.incoming_id(number).as_bytes(), ends: None, properties }
}

pub(super) const OUTGOING: Declaration = Declaration {
    labels: &["Question", "Outgoing"],
    ends: None,
    properties: PROPERTIES,
    count: |source| source.snapshot.outgoing_passages().len(),
    element: |source, number| Ok(outgoing(source, number)),
};

fn outgoing(source: &Source<'_>, number: u32) -> Element {
    let (graph, number) = (&source.graph, OutgoingOrdinal(number));
    let keywords = source.keywords(graph.outgoing_keywords, graph.outgoing_keyword, number);
    let mut properties =
        question("outgoing", source.snapshot.outgoing(number), keywords, graph.outgoing_sentence[number]);
    properties.put_text("origin", source.snapshot.outgoing_origin(number).name());
    let passages = source.snapshot.outgoing_passages();
    let first = passages.partition_point(|it| *it < passages[number]);
    properties.put("place", integer(number.0 - first as u32));
    properties.put(EMBEDDING, embedding(&source.vectors.outgoing, number.0));
    Element { key: *source.snapshot.outgoing_id(number).as_bytes(), ends: None, properties }
}

fn question(kind: &str, text: &str, keywords: Value, sentence: u32) -> Properties {
    let mut properties = Properties::default();
    properties.put_text("name", text);
    properties.put_text("text", text);
    properties.put("keywords", keywords);
    properties.put_text("kind", kind);
    properties.put("sentence", integer(sentence));
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
        Ok(relationship(Kind::AnsweredBy, *source.snapshot.incoming_id(number).as_bytes(), passage))
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
        Ok(relationship(Kind::Asks, passage, *source.snapshot.outgoing_id(number).as_bytes()))
    },
};

pub(super) const LEADS_TO: Declaration = Declaration {
    labels: &["LEADS_TO"],
    ends: Some((Kind::Passage, Kind::Passage)),
    properties: properties! {
        question: Text, keywords: Texts, similarity: Float, incoming: Text, outgoing: Text,
    },
    count: |source| source.edge_from.len(),
    element: |source, number| Ok(edge(source, number)),
};

fn edge(source: &Source<'_>, number: u32) -> Element {
    let (graph, at) = (&source.graph, EdgeOrdinal(number));
    let (from, to) = (source.passage_key(source.edge_from[at.index()]), source.passage_key(graph.edge_target[at]));
    let (incoming, outgoing) = (graph.edge_incoming[at], graph.edge_outgoing[at]);
    let mut properties = Properties::default();
    properties.put_text("question", source.snapshot.incoming(incoming));
    properties.put("keywords", source.keywords(graph.edge_keywords, graph.edge_keyword, at));
    properties.put("similarity", Value::Float(graph.edge_similarity[at].into()));
    properties.put_text("incoming", source.snapshot.incoming_id(incoming).to_string());
    properties.put_text("outgoing", source.snapshot.outgoing_id(outgoing).to_string());
    Element { key: edge_key(&from, &to), ends: Some((from, to)), properties }
}

/// Returns the key of a question edge.
pub(in crate::neo4j) fn edge_key(from: &Key, to: &Key) -> Key {
    *EdgeId::of(&[from, to]).as_bytes()
}
