//! Documents, and the units from which a workspace is cloned.

use super::super::element::{Element, Properties, Type, VECTORS, Value, integer};
use super::super::source::{Source, add_vectors, relationship};
use super::{Declaration, HIDDEN, Kind};
use crate::domain::DocumentId;
use crate::error::{Error, Result};
use crate::graph::ordinal::{DocumentOrdinal, Ordinal, PassageOrdinal, Rows};
use crate::store::GraphReader as _;
use crate::workspace::{DocumentUnit, PassageUnit, Units};

/// The stage that units are of.
const STAGE: &str = "passages";

pub(super) const DOCUMENT: Declaration = Declaration {
    labels: &["Document"],
    ends: None,
    properties: properties! {
        name: Text, sourceId: Text, title: Text, uri: Text, mediaType: Text, passages: Integer,
        metadata: Text, duplicateOf: Text,
    },
    count: |source| source.graph.document_count(),
    element: document,
};

fn document(source: &Source<'_>, number: u32) -> Result<Element> {
    let number = DocumentOrdinal(number);
    let document = source.snapshot.document(number)?;
    let mut properties = Properties::default();
    properties.put_text("name", name(document.title.as_deref(), &document.source_id));
    properties.put_text("sourceId", document.source_id);
    if let Some(title) = document.title {
        properties.put_text("title", title);
    }
    properties.put_text("uri", document.uri);
    properties.put_text("mediaType", document.media_type);
    let passages = source.graph.document_passages.of(number).len();
    properties.put("passages", integer(passages as u32));
    if !document.metadata.is_empty() {
        properties.put_text("metadata", json(&document.metadata)?);
    }
    if let Some(original) = document.duplicate_of {
        properties.put_text("duplicateOf", original.to_string());
    }
    Ok(Element { key: *document.document.as_bytes(), ends: None, properties })
}

/// Returns the short name of a document: its title, or the last part of its path.
pub(super) fn name<'a>(title: Option<&'a str>, source_id: &'a str) -> &'a str {
    let last = || source_id.rsplit('/').find(|part| !part.is_empty()).unwrap_or(source_id);
    title.filter(|title| !title.is_empty()).unwrap_or_else(last)
}

pub(super) const DUPLICATE_OF: Declaration = Declaration {
    labels: &["DUPLICATE_OF"],
    ends: Some((Kind::Document, Kind::Document)),
    properties: &[],
    count: |source| source.duplicates.len(),
    element: |source, number| {
        let (duplicate, original) = source.duplicates[number as usize];
        Ok(relationship(*duplicate.as_bytes(), *original.as_bytes()))
    },
};

pub(super) fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::Internal(error.to_string()))
}

pub(super) const UNIT: Declaration = Declaration {
    labels: &[HIDDEN, "Unit"],
    ends: None,
    properties: properties! {
        name: Text, stage: Text, content: Text, writers: Texts, extractions: Texts, root: Text, fingerprint: Text,
        positions: Text, text: Text, cairnVectors: Bytes,
    },
    count: |source| source.graph.document_count(),
    element: unit,
};

/// Returns the data that a workspace needs and a reader does not, without those of the records.
fn unit(source: &Source<'_>, number: u32) -> Result<Element> {
    let number = DocumentOrdinal(number);
    let document = source.snapshot.document(number)?;
    let mut properties = Properties::default();
    properties.put_text("name", document.caption());
    properties.put_text("stage", STAGE);
    if source.has_question_vectors() {
        properties.put(VECTORS, Value::Bytes(question_vectors(source, number)));
    }
    Ok(Element { key: *document.document.as_bytes(), ends: None, properties })
}

/// Adds what the records have of a unit: the text and the marker.
pub(super) fn add_records(units: &Units<'_>, Element { key, properties, .. }: &mut Element) -> Result<()> {
    let id = DocumentId::from_bytes(*key);
    let missing = || Error::Internal(format!("document `{id}` is not in the records"));
    let unit = units.get(id)?.ok_or_else(missing)?;
    properties.put_text("content", blake3::Hash::from_bytes(unit.content).to_hex().as_str());
    let DocumentUnit { root, fingerprint, document: whole, passages, .. } = unit;
    if passages.iter().any(|it| it.extracted.is_some()) {
        let text = |it: &PassageUnit| it.extracted.as_ref().map_or_else(|| Ok(String::new()), json);
        properties.put("extractions", Value::Texts(passages.iter().map(text).collect::<Result<_>>()?));
    }
    if passages.iter().any(|it| it.writer.is_some()) {
        let writers = passages.into_iter().map(|it| it.writer.unwrap_or_default());
        properties.put("writers", Value::Texts(writers.collect()));
    }
    properties.put_text("root", root);
    properties.put_text("fingerprint", fingerprint);
    if !whole.positions.is_none() {
        properties.put_text("positions", json(&whole.positions)?);
    }
    properties.put_text("text", whole.text);
    Ok(())
}

/// Returns the vectors of a document's questions, in-coming before out-coming ones.
fn question_vectors(source: &Source<'_>, document: DocumentOrdinal) -> Vec<u8> {
    let passages = source.graph.document_passages.of(document).range();
    let within = |rows: Rows<'_, PassageOrdinal, _>| {
        let starts = rows.items();
        starts[passages.start] as usize..starts[passages.end] as usize
    };
    let asks = source.snapshot.outgoing_passages();
    let asked = |passage: usize| asks.partition_point(|it| it.index() < passage);
    let mut bytes = Vec::new();
    add_vectors(&source.vectors.incoming, within(source.graph.passage_incoming), &mut bytes);
    add_vectors(&source.vectors.outgoing, asked(passages.start)..asked(passages.end), &mut bytes);
    bytes
}
