//! A version of a workspace as the source of elements, whose kinds declare their properties.

use std::hash::{BuildHasher as _, RandomState};
use std::ops::{Deref, Range};
use std::sync::LazyLock;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::element::{Element, Key, Properties, Value};
use super::hierarchy::HierarchyParts;
use super::kinds::{KeptRecord, LexiconPart, SIMILARITY_LEAST, lexicon_parts};
use crate::domain::{DocumentId, EntityId};
use crate::embed::StaticTable;
use crate::error::Result;
use crate::graph::descriptions::Descriptions;
use crate::graph::ordinal::{
    Column, DocumentOrdinal, EdgeOrdinal, EntityOrdinal, KeywordOrdinal, MentionOrdinal, Ordinal, Ordinals,
    PassageOrdinal, Position, Rows,
};
use crate::graph::packed::{PassageGraph, text_at};
use crate::graph::resolution::{Merge, Reason, Resolution};
use crate::store::{GraphReader as _, VectorField, Vectors, spelling};
use crate::workspace::{Records, Seal, Snapshot, Units};

/// The elements of a workspace. Those of a kind are numbered from 0.
pub(super) struct Elements<'a> {
    pub(super) source: Source<'a>,
    /// What is published of documents beside their version.
    pub(super) units: Units<'a>,
    /// The seal of each document of which no model wrote anything, if its unit is made from nothing else.
    pub(super) seals: Vec<Option<Seal>>,
}

impl<'a> Elements<'a> {
    /// # Errors
    ///
    /// If the version or the records cannot be read.
    pub(super) fn new(snapshot: &'a Snapshot, records: &'a Records, kept: Vec<KeptRecord>) -> Result<Self> {
        let source = Source::new(snapshot, kept)?;
        // Seals say nothing of vectors.
        let has_seals = !source.has_question_vectors();
        let seal = |document| snapshot.seal(document).filter(|_| has_seals);
        let seals = DocumentOrdinal::first(snapshot.document_count() as usize).map(seal).collect();
        Ok(Self { source, units: records.units()?, seals })
    }
}

impl<'a> Deref for Elements<'a> {
    type Target = Source<'a>;

    fn deref(&self) -> &Source<'a> {
        &self.source
    }
}

/// A version of a workspace, from which elements are made.
pub(super) struct Source<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) graph: PassageGraph<'a>,
    /// Passages that another of the same document follows.
    pub(super) followed: Vec<PassageOrdinal>,
    /// Documents that are nearly equal to one before, and which that is.
    pub(super) duplicates: Vec<(DocumentId, DocumentId)>,
    /// Passages and their mentions of one entity.
    pub(super) mentions: Vec<(PassageOrdinal, Ordinals<MentionOrdinal>)>,
    /// The passage that each question edge leaves.
    pub(super) edge_from: Vec<PassageOrdinal>,
    /// Edges of questions that are alike, and those of others.
    pub(super) strong_edges: Vec<EdgeOrdinal>,
    pub(super) weak_edges: Vec<EdgeOrdinal>,
    /// Names of passages, and how they have them, in the order of passages.
    pub(super) names: Vec<(PassageOrdinal, EntityOrdinal, u32)>,
    pub(super) hierarchy: HierarchyParts<'a>,
    /// A model's texts about entities, relations and communities.
    pub(super) descriptions: Option<Descriptions<'a>>,
    pub(super) resolution: Option<Resolution<'a>>,
    /// Names that stand for an entity of another name, everywhere or in documents.
    pub(super) same: Vec<SameAs>,
    /// The other names of an entity, everywhere.
    pub(super) aliases: FxHashMap<EntityOrdinal, Vec<EntityOrdinal>>,
    /// How many documents mention each entity by any of its names; none where each name is an entity of its own.
    pub(super) mentioning: Vec<u32>,
    /// A model's texts and entries by hand that belong to no document.
    pub(super) kept: Vec<KeptRecord>,
    pub(super) lexicon: Vec<LexiconPart>,
    /// How each entity is written.
    pub(super) spellings: Vec<String>,
    /// The key of each entity.
    entity_keys: Vec<Key>,
    pub(super) vectors: FieldVectors<'a>,
    /// The name of the embedder that made them.
    pub(super) embedder: &'a str,
}

/// A name merged into another.
pub(super) struct SameAs {
    /// The name and the entity.
    pub(super) ends: [EntityOrdinal; 2],
    /// The reason; if only in some documents, that in the first.
    pub(super) reason: Reason,
    /// The documents in which it does; none if it does everywhere.
    pub(super) documents: Vec<DocumentOrdinal>,
}

impl SameAs {
    /// Returns one for each name and entity, in order.
    fn all(resolution: Option<Resolution<'_>>) -> Vec<Self> {
        let mut merges: Vec<Merge> = resolution.iter().flat_map(|it| it.merges().collect::<Vec<_>>()).collect();
        // Everywhere comes before any document.
        merges.sort_by_key(|it| (it.name, it.entity, it.document));
        let same = merges.chunk_by(|a, b| (a.name, a.entity) == (b.name, b.entity));
        let joined = |same: &[Merge]| {
            let Merge { name, entity, document, reason, .. } = same[0];
            let documents = if document.is_none() { &[] } else { same };
            Self { ends: [name, entity], reason, documents: documents.iter().filter_map(|it| it.document).collect() }
        };
        same.map(joined).collect()
    }
}

/// The vectors of a version, checked.
pub(super) struct FieldVectors<'a> {
    pub(super) passages: Vectors<'a>,
    pub(super) sentences: Vectors<'a>,
    pub(super) incoming: Vectors<'a>,
    pub(super) outgoing: Vectors<'a>,
}

impl<'a> FieldVectors<'a> {
    fn of(snapshot: &'a Snapshot) -> Result<Self> {
        Ok(Self {
            passages: snapshot.vectors(VectorField::Passage)?,
            sentences: snapshot.vectors(VectorField::Sentence)?,
            incoming: snapshot.vectors(VectorField::Incoming)?,
            outgoing: snapshot.outgoing_vectors()?,
        })
    }
}

impl<'a> Source<'a> {
    /// # Errors
    ///
    /// If the version cannot be read.
    fn new(snapshot: &'a Snapshot, kept: Vec<KeptRecord>) -> Result<Self> {
        let graph = snapshot.graph();
        let document = |passage: PassageOrdinal| graph.passage_document.find(passage);
        let followed = graph.passages().filter(|it| document(*it) == document(PassageOrdinal(it.0 + 1))).collect();
        let mut mentions: Vec<(PassageOrdinal, Ordinals<MentionOrdinal>)> = Vec::new();
        for passage in graph.passages() {
            let mut rest = graph.passage_mentions.of(passage);
            for same in graph.mention_entity.of(rest.clone()).chunk_by(PartialEq::eq) {
                let (of_entity, others) = rest.split_at(same.len());
                mentions.push((passage, of_entity));
                rest = others;
            }
        }
        let leaving = |passage| graph.passage_edges.of(passage).map(move |_| passage);
        let edge_from = graph.passages().flat_map(leaving).collect();
        let edges = graph.edge_similarity.ordinals();
        let (strong_edges, weak_edges) = edges.partition(|it| graph.edge_similarity[*it] >= SIMILARITY_LEAST);
        let mut names = Vec::new();
        for entity in graph.entity_documents.ordinals() {
            let bearers = graph.entity_bearers.of(entity);
            names.extend(bearers.map(|it| (graph.bearer_passage[it], entity, graph.bearer_kind[it])));
        }
        names.sort_unstable();
        let mut duplicates = Vec::new();
        for document in DocumentOrdinal::first(graph.document_count()) {
            let shown = snapshot.document(document)?;
            duplicates.extend(shown.duplicate_of.map(|original| (shown.document, original)));
        }
        let same = SameAs::all(snapshot.resolution());
        let mut aliases: FxHashMap<EntityOrdinal, Vec<EntityOrdinal>> = FxHashMap::default();
        for SameAs { ends: [name, entity], .. } in same.iter().filter(|it| it.documents.is_empty()) {
            aliases.entry(*entity).or_default().push(*name);
        }
        let entities: Vec<EntityOrdinal> = graph.entity_documents.ordinals().collect();
        let (spellings, lexicon) = rayon::join(
            || entities.par_iter().map(|entity| spelling(snapshot, *entity)).collect::<Result<_>>(),
            || lexicon_parts(snapshot),
        );
        let key = |entity: &EntityOrdinal| *EntityId::of(&[graph.entity_name(*entity).as_bytes()]).as_bytes();
        let entity_keys = entities.par_iter().map(key).collect();
        Ok(Self {
            snapshot,
            graph,
            followed,
            duplicates,
            mentions,
            edge_from,
            strong_edges,
            weak_edges,
            names,
            hierarchy: HierarchyParts::of(snapshot, &graph),
            descriptions: snapshot.descriptions(),
            resolution: snapshot.resolution(),
            same,
            aliases,
            mentioning: snapshot.resolution().map_or_else(Vec::new, |it| mentioning(&graph, &it)),
            kept,
            lexicon: lexicon?,
            spellings: spellings?,
            entity_keys,
            vectors: FieldVectors::of(snapshot)?,
            embedder: snapshot.embedder(),
        })
    }

    /// Returns whether the vectors of questions are published: those of the built-in embedder cost a clone less to make
    /// than to read.
    pub(super) fn has_question_vectors(&self) -> bool {
        self.embedder != StaticTable::NAME
    }

    pub(super) fn passage_key(&self, passage: PassageOrdinal) -> Key {
        *self.snapshot.passage_id(passage).as_bytes()
    }

    pub(super) fn entity_key(&self, entity: EntityOrdinal) -> Key {
        self.entity_keys[entity.index()]
    }

    /// Takes the first documents out of `documents` and their first passages out of `passages`, all by number.
    pub(super) fn together(
        &self,
        documents: &mut Vec<u32>,
        passages: &mut Vec<u32>,
        count: usize,
    ) -> (Vec<u32>, Vec<u32>) {
        let late = documents.split_off(count.min(documents.len()));
        let early = std::mem::replace(documents, late);
        let is_early = |it: &u32| early.contains(&self.graph.passage_document[PassageOrdinal(*it)].0);
        let (of_early, late) = passages.iter().copied().partition(is_early);
        *passages = late;
        (early, of_early)
    }

    pub(super) fn keywords<K: Ordinal>(
        &self,
        rows: Rows<'_, K, Position>,
        keywords: Column<'_, Position, KeywordOrdinal>,
        of: K,
    ) -> Value {
        let (ends, texts) = (&self.graph.keyword_ends, self.graph.keyword_texts.items());
        Value::Texts(keywords.of(rows.of(of)).iter().map(|it| text_at(ends, texts, *it).to_owned()).collect())
    }
}

/// Returns how many documents mention each entity by any of its names.
fn mentioning(graph: &PassageGraph<'_>, resolution: &Resolution<'_>) -> Vec<u32> {
    let mut counts = vec![0; graph.entity_name_ends.len()];
    let mut entities: Vec<EntityOrdinal> = Vec::new();
    for document in graph.documents() {
        entities.clear();
        for passage in graph.document_passages.of(document) {
            let names = graph.mention_entity.of(graph.passage_mentions.of(passage));
            entities.extend(names.iter().map(|name| resolution.canonical(*name, document)));
        }
        entities.sort_unstable();
        entities.dedup();
        for entity in &entities {
            counts[entity.index()] += 1;
        }
    }
    counts
}

/// Returns a relationship that is the only one of its kind between its ends.
pub(super) fn relationship(from: Key, to: Key) -> Element {
    Element { key: relationship_key(&from, &to), ends: Some((from, to)), properties: Properties::default() }
}

/// Returns the key of a relationship that is the only one of its kind between its ends: a sum of products of their
/// halves (NH; Black et al. 1999, UMAC). The terms added to these are others in each process, so that nobody can choose
/// ends with equal keys. No key is stored, and no order may depend on one.
pub(super) fn relationship_key(from: &Key, to: &Key) -> Key {
    static TERMS: LazyLock<[u64; 4]> = LazyLock::new(|| {
        let random = RandomState::new();
        [0, 1, 2, 3].map(|term| random.hash_one(term))
    });
    let product = |end: &Key, terms: &[u64]| {
        let end = u128::from_ne_bytes(*end);
        let [low, high] = [end as u64, (end >> 64) as u64];
        u128::from(low.wrapping_add(terms[0])) * u128::from(high.wrapping_add(terms[1]))
    };
    product(from, &TERMS[..2]).wrapping_add(product(to, &TERMS[2..])).to_ne_bytes()
}

/// Returns a vector of unit length; none if a text has nothing to embed, since an index rejects zeros.
pub(super) fn embedding(vectors: &Vectors<'_>, number: u32) -> Value {
    if vectors.is_empty() {
        return Value::Floats(Vec::new());
    }
    let (scale, codes) = (vectors.scale(number), vectors.codes(number));
    if codes.iter().all(|code| *code == 0) {
        return Value::Floats(Vec::new());
    }
    Value::Floats(codes.iter().map(|code| f32::from(*code) * scale).collect())
}

/// Adds vectors as the workspace keeps them, each a scale and its codes.
pub(super) fn add_vectors(vectors: &Vectors<'_>, rows: Range<usize>, bytes: &mut Vec<u8>) {
    if vectors.is_empty() {
        return;
    }
    for row in rows {
        bytes.extend_from_slice(&vectors.scale(row as u32).to_le_bytes());
        bytes.extend_from_slice(bytemuck::cast_slice(vectors.codes(row as u32)));
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;

    #[test]
    fn relationships_with_other_ends_have_other_keys() {
        let ends: Vec<Key> = (0..128).map(|bit| (1_u128 << bit).to_ne_bytes()).chain([[0; 16], [7; 16]]).collect();
        let pairs = ends.iter().flat_map(|from| ends.iter().map(move |to| relationship_key(from, to)));
        let keys: FxHashSet<Key> = pairs.collect();
        assert_eq!(keys.len(), ends.len() * ends.len());
    }
}
