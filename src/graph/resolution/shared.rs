//! Names that several documents have: which of the namesakes each document means.

use std::collections::BTreeMap;

use super::company::{self, Names};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::ordinal::{DocumentOrdinal, EntityOrdinal, Ordinal as _, PassageOrdinal};
use crate::graph::packed::{PassageGraph, name_kind};

/// Maximum documents with a name among which the one meant by another is determined.
pub const BEARERS_MAX: usize = 16;
/// Maximum documents in which the meaning of a name is determined.
pub const READERS_MAX: usize = 256;

/// The candidates for a name: each document that has it as part of its title, and that title.
type Bearers = Vec<(DocumentOrdinal, EntityOrdinal)>;

/// A document, a name in it, and what the name stands for there.
pub(super) type Meant = (DocumentOrdinal, EntityOrdinal, EntityOrdinal);

/// Names by the documents that have them.
pub(super) struct Shared {
    /// Bearers of names of several entities.
    several: BTreeMap<EntityOrdinal, Bearers>,
    /// Names that one document has as part of its title.
    single: BTreeMap<EntityOrdinal, (DocumentOrdinal, EntityOrdinal)>,
}

impl Shared {
    /// Collects the bearers of names. Complexity: linear in the bearers.
    pub(super) fn of(graph: &PassageGraph<'_>) -> Self {
        let mut titles: Vec<Option<EntityOrdinal>> = vec![None; graph.document_count()];
        let mut parts: BTreeMap<EntityOrdinal, Vec<DocumentOrdinal>> = BTreeMap::new();
        for entity in graph.entity_documents.ordinals() {
            for bearer in graph.entity_bearers.of(entity) {
                let document = graph.bearer_document[bearer];
                match graph.bearer_kind[bearer] {
                    name_kind::TITLE => {
                        titles[document.index()] = Some(entity);
                        parts.entry(entity).or_default().push(document);
                    }
                    name_kind::BARE_TITLE | name_kind::BEFORE_COMMA => parts.entry(entity).or_default().push(document),
                    _ => {}
                }
            }
        }
        let mut shared = Self { several: BTreeMap::new(), single: BTreeMap::new() };
        for (name, documents) in parts {
            let whole = |document: &DocumentOrdinal| Some((*document, titles[document.index()]?));
            let bearers: Bearers = documents.iter().filter_map(whole).collect();
            let mut things: Vec<EntityOrdinal> = bearers.iter().map(|it| it.1).collect();
            things.sort_unstable();
            things.dedup();
            match (things.as_slice(), bearers.first()) {
                ([only], Some(bearer)) if *only != name => drop(shared.single.insert(name, *bearer)),
                ([] | [_], _) => {}
                _ => drop(shared.several.insert(name, bearers)),
            }
        }
        shared
    }

    /// Returns whether a name stands for different entities in different documents.
    pub(super) fn contains(&self, name: EntityOrdinal) -> bool {
        self.several.contains_key(&name)
    }

    /// Returns whether a name is a part of the title of one document, and of how many words: one word says too little
    /// to be the same in all others.
    pub(super) fn is_telling(&self, graph: &PassageGraph<'_>, name: EntityOrdinal) -> bool {
        let single = self.single.get(&name);
        single.is_none_or(|(document, _)| !bears_place(graph, name, *document) && graph.entity_name(name).contains(' '))
    }

    /// Returns the entities of names in the documents that mention them, if they can be determined: in documents that
    /// have the name, their subject; in others, the one with clearly the most company in common.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`](crate::error::Error::Cancelled) if a stop was requested, checked for every name.
    pub(super) fn meant(&self, graph: &PassageGraph<'_>, cancellation: &Cancellation) -> Result<Vec<Meant>> {
        let mut meant = Vec::new();
        let few = |(name, bearer): (&EntityOrdinal, &(DocumentOrdinal, EntityOrdinal))| (*name, vec![*bearer]);
        let single = self.single.iter().filter(|(name, _)| !self.is_telling(graph, **name)).map(few);
        for (name, bearers) in self.several.iter().map(|(name, bearers)| (*name, bearers.clone())).chain(single) {
            cancellation.check()?;
            meant.extend(bearers.iter().map(|(document, thing)| (*document, name, *thing)));
            // Other documents call a place before a comma by its name alone.
            let is_place = !self.contains(name) && bearers.iter().all(|it| bears_place(graph, name, it.0));
            if bearers.len() > BEARERS_MAX || is_place {
                continue;
            }
            let apart: Vec<EntityOrdinal> = bearers.iter().map(|it| it.1).chain([name]).collect();
            let companies: Vec<(EntityOrdinal, Names)> =
                bearers.iter().map(|(document, thing)| (*thing, company::of_document(graph, *document))).collect();
            let bears = |reader: DocumentOrdinal| bearers.iter().any(|bearer| bearer.0 == reader);
            for (reader, passages) in readers(graph, name).into_iter().filter(|it| !bears(it.0)) {
                let there = company::of(graph, passages.into_iter());
                let nearest = company::nearest(graph, &there, &companies, &apart);
                meant.extend(nearest.map(|at| (reader, name, companies[at].0)));
            }
        }
        meant.retain(|(_, name, thing)| name != thing);
        Ok(meant)
    }
}

/// Returns whether a name is the part before a comma in a document's title: often a place.
fn bears_place(graph: &PassageGraph<'_>, name: EntityOrdinal, document: DocumentOrdinal) -> bool {
    let bearers = graph.entity_bearers.of(name).filter(|it| graph.bearer_document[*it] == document);
    bearers.into_iter().any(|it| graph.bearer_kind[it] == name_kind::BEFORE_COMMA)
}

/// Returns the first documents that mention a name, each with its passages that do.
fn readers(graph: &PassageGraph<'_>, name: EntityOrdinal) -> Vec<(DocumentOrdinal, Vec<PassageOrdinal>)> {
    let mut readers: Vec<(DocumentOrdinal, Vec<PassageOrdinal>)> = Vec::new();
    // Passages of a document follow each other.
    for passage in company::passages(graph, name) {
        let (document, count) = (graph.passage_document[passage], readers.len());
        match readers.last_mut() {
            Some((last, passages)) if *last == document => passages.push(passage),
            _ if count == READERS_MAX => break,
            _ => readers.push((document, vec![passage])),
        }
    }
    readers
}
