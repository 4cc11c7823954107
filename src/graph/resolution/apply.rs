//! The names of a graph by the entities that they stand for.

use super::Resolution;
use crate::graph::elements::{own_names, postings};
use crate::graph::ordinal::{DocumentOrdinal, EntityOrdinal, Ordinal as _};
use crate::graph::packed::{PackedGraph, PassageGraph};

/// A graph by names, and by the entities that these stand for.
#[derive(Debug, Clone, Copy)]
pub struct EntityGraph<'a> {
    /// By names.
    pub names: PassageGraph<'a>,
    /// By entities: see [`resolved`].
    pub entities: PassageGraph<'a>,
    /// The entities of the names; by default, each name is an entity.
    pub resolution: Option<Resolution<'a>>,
}

impl EntityGraph<'_> {
    /// Returns the entity of a name in a document.
    #[must_use]
    pub fn canonical(&self, name: EntityOrdinal, document: DocumentOrdinal) -> EntityOrdinal {
        self.resolution.map_or(name, |resolution| resolution.canonical(name, document))
    }
}

/// A graph in which every name is a separate entity.
impl<'a> From<PassageGraph<'a>> for EntityGraph<'a> {
    fn from(graph: PassageGraph<'a>) -> Self {
        Self { names: graph, entities: graph, resolution: None }
    }
}

/// Returns a graph with the same documents, passages, sentences and numbers of entities, in which every mention is of
/// the entity that its name stands for there, once per sentence, and documents have the entities of their names. It has
/// no cues, questions or edges. Names merged into others have no mentions left.
#[must_use]
pub fn resolved(graph: &PassageGraph<'_>, resolution: &Resolution<'_>) -> PackedGraph {
    let (mentioned, borne) = rayon::join(|| mentions(graph, resolution), || bearers(graph, resolution));
    let names = PackedGraph {
        document_passages: graph.document_passages.items().to_vec(),
        passage_document: graph.passage_document.items().to_vec(),
        passage_sentences: graph.passage_sentences.items().to_vec(),
        sentence_passage: graph.sentence_passage.items().to_vec(),
        entity_name_ends: graph.entity_name_ends.items().to_vec(),
        entity_names: graph.entity_names.items().to_vec(),
        entity_flags: graph.entity_flags.items().to_vec(),
        ..PackedGraph::default()
    };
    names.or(mentioned).or(borne)
}

fn mentions(graph: &PassageGraph<'_>, resolution: &Resolution<'_>) -> PackedGraph {
    let mut found = PackedGraph { passage_mentions: vec![0], ..PackedGraph::default() };
    found.mention_entity.reserve_exact(graph.mention_entity.len());
    found.mention_sentence.reserve_exact(graph.mention_entity.len());
    let mut own = Vec::new();
    for passage in graph.passages() {
        let document = graph.passage_document[passage];
        let thing = |mention| resolution.canonical(graph.mention_entity[mention], document);
        let mentions = graph.passage_mentions.of(passage);
        own.extend(mentions.map(|it| (thing(it), graph.mention_sentence[it])));
        own.sort_unstable();
        own.dedup();
        for (entity, sentence) in own.drain(..) {
            found.mention_entity.push(entity);
            found.mention_sentence.push(sentence);
        }
        found.passage_mentions.push(found.mention_entity.len() as u32);
    }
    let with_passages = PassageGraph { passage_document: graph.passage_document, ..found.view() };
    let posted = postings(graph.entity_name_ends.len(), &with_passages);
    found.or(posted)
}

fn bearers(graph: &PassageGraph<'_>, resolution: &Resolution<'_>) -> PackedGraph {
    let mut found = PackedGraph::default();
    let names = graph.entity_documents.ordinals();
    let bearers = names.flat_map(|name| graph.entity_bearers.of(name).map(move |bearer| (name, bearer)));
    let mut borne: Vec<_> = bearers
        .map(|(name, bearer)| {
            let document = graph.bearer_document[bearer];
            (resolution.canonical(name, document), document, graph.bearer_kind[bearer], graph.bearer_passage[bearer])
        })
        .collect();
    // Each once, by the strongest of its names.
    borne.sort_unstable();
    borne.dedup_by_key(|it| (it.0, it.1));
    let mut rows = vec![0; graph.entity_name_ends.len() + 1];
    for (thing, document, kind, passage) in borne {
        rows[EntityOrdinal::index(thing) + 1] += 1;
        found.bearer_document.push(document);
        found.bearer_kind.push(kind);
        found.bearer_passage.push(passage);
    }
    for at in 1..rows.len() {
        rows[at] += rows[at - 1];
    }
    found.entity_bearers = rows;
    (found.document_own, found.own_entity) = own_names(graph.document_count(), &found.view());
    found
}
