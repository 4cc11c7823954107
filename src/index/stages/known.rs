//! Vectors that are there already, in an earlier version or kept elsewhere, by the texts that they stand for.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::difference::Beside;
use super::vectors::{CorpusVectors, Field, FieldVectors, Kind, Texts};
use crate::embed::Titled;
use crate::error::Result;
use crate::graph::ordinal::{DocumentOrdinal, IncomingOrdinal, OutgoingOrdinal, PassageOrdinal};
use crate::graph::packed::PassageGraph;
use crate::graph::vectors::{QuantizedVectors, Vectors};
use crate::store::VectorField;
use crate::workspace::{LastVersion, TextsFile, VectorKey, Workspace, WorkspaceOptions};

/// Vectors that are there already, of the same embedder, by text.
pub(in crate::index) enum Earlier {
    /// None.
    None,
    /// Those of the last version.
    Version(Arc<LastVersion>),
    /// Those of this very corpus, kept elsewhere.
    Kept(Box<CorpusVectors>),
}

impl Earlier {
    /// Returns the last version, if it has vectors of an embedder with this pin.
    pub(in crate::index) fn of(
        workspace: &Workspace,
        pin: &WorkspaceOptions,
        last: Option<&Arc<LastVersion>>,
    ) -> Result<Self> {
        if pin.dimension == 0 || workspace.records()?.manifest()?.pin() != *pin {
            return Ok(Self::None);
        }
        let last = last.cloned().or_else(|| workspace.last_version().map(Arc::new));
        Ok(last.map_or(Self::None, Self::Version))
    }

    /// Returns all that is there, by what it stands for.
    pub(super) fn known(&self, texts: &Texts<'_>) -> Result<Known<'_>> {
        match self {
            Self::None => Ok(Known::default()),
            Self::Version(last) => Known::of(last, |_| true),
            Self::Kept(vectors) => Ok(Known::of_texts(texts, vectors)),
        }
    }
}

/// Where a vector lies: which of some vectors, and its row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    source: u32,
    row: u32,
}

/// Vectors that are there already, by what they stand for.
#[derive(Default)]
pub(super) struct Known<'a> {
    sources: Vec<FieldVectors<'a>>,
    places: FxHashMap<VectorKey, Place>,
    /// What is found by its place in the last version.
    beside: Option<&'a Beside<'a>>,
}

impl<'a> Known<'a> {
    /// Knows the vectors of the last version, whose documents that stay are found by their place.
    pub(super) fn beside(last: &'a LastVersion, beside: &'a Beside<'a>) -> Result<Self> {
        let Some(difference) = &beside.difference else { return Self::of(last, |_| true) };
        Ok(Self { beside: Some(beside), ..Self::of(last, |passage| difference.is_gone(passage))? })
    }

    /// Knows the vectors of the last version, by the texts of these passages. Of what is damaged nothing is known.
    fn of(last: &'a LastVersion, is_one: impl Fn(PassageOrdinal) -> bool + Sync) -> Result<Self> {
        let mut known = Self::default();
        let (Some(graph), Some(texts)) = (last.graph(), last.texts()) else { return Ok(known) };
        // A source a field, in the order of these.
        let stored = [VectorField::Passage, VectorField::Sentence, VectorField::Incoming].map(|it| last.vectors(it));
        for vectors in stored.into_iter().chain([last.outgoing_vectors()]) {
            known.add_source(FieldVectors::TakenOver(vectors.unwrap_or_default()));
        }
        let documents: Vec<DocumentOrdinal> = graph.documents().collect();
        let keys_of = |document: DocumentOrdinal| keys_of(texts, &graph, document, &is_one);
        for keys in documents.into_par_iter().map(keys_of).collect::<Result<Vec<_>>>()? {
            for (field, key, row) in keys {
                known.add_made(key, Place { source: field as u32, row });
            }
        }
        known.add_questions(Field::Incoming, |row| {
            is_one(graph.incoming_passage[IncomingOrdinal(row)]).then(|| texts.incoming(IncomingOrdinal(row)))
        });
        let outgoing = texts.outgoing_passages();
        known.add_questions(Field::Outgoing, |row| {
            is_one(outgoing[OutgoingOrdinal(row)]).then(|| texts.outgoing(OutgoingOrdinal(row)))
        });
        Ok(known)
    }

    fn of_texts(texts: &Texts<'_>, vectors: &'a CorpusVectors) -> Self {
        let mut known = Self::default();
        for field in Field::ALL {
            let vectors = vectors.of_field(field);
            let source = known.add_source(FieldVectors::TakenOver(vectors.view()));
            for (text, row) in texts.of_field(field).iter().zip(0..vectors.len() as u32) {
                known.places.insert(key(field.kind(), *text), Place { source, row });
            }
        }
        known
    }

    fn add_source(&mut self, vectors: FieldVectors<'a>) -> u32 {
        self.sources.push(vectors);
        self.sources.len() as u32 - 1
    }

    /// Adds vectors that were kept, one a key.
    pub(super) fn add_kept(&mut self, keys: &[VectorKey], vectors: QuantizedVectors) {
        let source = self.add_source(FieldVectors::Made(vectors));
        self.places.extend(keys.iter().zip(0..).map(|(key, row)| (*key, Place { source, row })));
    }

    fn add_questions<'t>(&mut self, field: Field, text: impl Fn(u32) -> Option<&'t str> + Sync) {
        let source = field as u32;
        let key = |row| Some((key(Kind::Question, Titled { title: None, text: text(row)? }), Place { source, row }));
        let rows = self.sources[source as usize].view().len() as u32;
        for (key, place) in (0..rows).into_par_iter().filter_map(key).collect::<Vec<_>>() {
            self.add_made(key, place);
        }
    }

    /// Adds a vector, unless it is one of zeros: what it stands for has none yet, or no word.
    fn add_made(&mut self, key: VectorKey, place: Place) {
        if self.is_made(place) {
            self.places.insert(key, place);
        }
    }

    fn is_made(&self, place: Place) -> bool {
        let vectors = self.vectors(place);
        !vectors.is_empty() && vectors.codes(place.row).iter().any(|code| *code != 0)
    }

    /// Returns where the vectors of the texts of a field are, as far as they are there already.
    pub(super) fn places(&self, field: Field, texts: &[Titled<'_>]) -> Vec<Option<Place>> {
        let mut places = vec![None; texts.len()];
        let beside = self.beside.and_then(|beside| Some((beside.difference.as_ref()?, beside.corpus)));
        for (row, now) in beside.map(|(difference, corpus)| difference.rows(field, corpus)).unwrap_or_default() {
            let place = Place { source: field as u32, row };
            places[now as usize] = self.is_made(place).then_some(place);
        }
        let find = |(place, text): (&mut Option<Place>, &Titled<'_>)| {
            *place = place.or_else(|| self.find(field.kind(), *text))
        };
        places.par_iter_mut().zip(texts).for_each(find);
        places
    }

    /// Returns the vectors at some places, and where there is none the next of `fresh`.
    pub(super) fn joined(&self, places: &[Option<Place>], fresh: &QuantizedVectors) -> QuantizedVectors {
        let mut all = QuantizedVectors::new(fresh.dimension);
        let mut rows = 0..;
        for place in places {
            match place {
                Some(place) => all.push_row(&self.vectors(*place), place.row),
                None => rows.by_ref().take(1).for_each(|row| all.push_row(&fresh.view(), row)),
            }
        }
        all
    }

    fn vectors(&self, place: Place) -> Vectors<'_> {
        self.sources[place.source as usize].view()
    }

    /// Returns the codes that were kept by a key.
    pub(super) fn codes(&self, key: &VectorKey) -> Option<&[i8]> {
        let place = self.places.get(key)?;
        Some(self.vectors(*place).codes(place.row))
    }

    pub(super) fn find(&self, kind: Kind, text: Titled<'_>) -> Option<Place> {
        if self.places.is_empty() { None } else { self.places.get(&key(kind, text)).copied() }
    }
}

/// Returns the keys of the passages and sentences of a document, each with its row.
fn keys_of(
    texts: &TextsFile,
    graph: &PassageGraph<'_>,
    document: DocumentOrdinal,
    is_one: &impl Fn(PassageOrdinal) -> bool,
) -> Result<Vec<(Field, VectorKey, u32)>> {
    let shown = texts.document(document)?;
    let title = shown.title.as_deref();
    let mut keys = Vec::new();
    for passage in graph.document_passages.of(document).filter(|it| is_one(*it)) {
        let shown = texts.passage(passage, graph.passage_sentences.of(passage))?;
        keys.push((Field::Passages, key(Kind::Passage, Titled { title, text: &shown.text }), passage.0));
        for (span, sentence) in shown.sentences.iter().zip(graph.passage_sentences.of(passage)) {
            let text = Titled { title, text: span.of(&shown.text) };
            keys.push((Field::Sentences, key(Kind::Sentence, text), sentence.0));
        }
    }
    Ok(keys)
}

pub(super) fn key(kind: Kind, Titled { title, text }: Titled<'_>) -> VectorKey {
    let mut hasher = blake3::Hasher::new();
    // No title and an empty one are the same to an embedder; a length keeps title and text apart.
    let title = title.unwrap_or_default();
    hasher.update(&[kind as u8]).update(&(title.len() as u64).to_le_bytes()).update(title.as_bytes());
    *hasher.update(text.as_bytes()).finalize().as_bytes()
}
