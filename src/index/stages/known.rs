//! Vectors that are there already, in an earlier version or kept elsewhere, by the texts that they stand for.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::vectors::{CorpusVectors, Field, FieldVectors, Kind, Texts};
use crate::embed::Titled;
use crate::error::Result;
use crate::graph::ordinal::{DocumentOrdinal, IncomingOrdinal, OutgoingOrdinal};
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
            Self::Version(last) => Known::of(last),
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
}

impl<'a> Known<'a> {
    /// Of what is damaged nothing is known.
    fn of(last: &'a LastVersion) -> Result<Self> {
        let mut known = Self::default();
        let (Some(graph), Some(texts)) = (last.graph(), last.texts()) else { return Ok(known) };
        let field = |field| last.vectors(field).unwrap_or_default();
        let passages = known.add_source(FieldVectors::TakenOver(field(VectorField::Passage)));
        let sentences = known.add_source(FieldVectors::TakenOver(field(VectorField::Sentence)));
        let documents: Vec<DocumentOrdinal> = graph.documents().collect();
        let keys_of = |document: DocumentOrdinal| keys_of(texts, &graph, document);
        for keys in documents.into_par_iter().map(keys_of).collect::<Result<Vec<_>>>()? {
            for (kind, key, row) in keys {
                let source = if kind == Kind::Passage { passages } else { sentences };
                known.add_made(key, Place { source, row });
            }
        }
        known.add_questions(field(VectorField::Incoming), |row| texts.incoming(IncomingOrdinal(row)));
        let outgoing = last.outgoing_vectors().unwrap_or_default();
        known.add_questions(outgoing, |row| texts.outgoing(OutgoingOrdinal(row)));
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

    fn add_questions<'t>(&mut self, vectors: Vectors<'a>, text: impl Fn(u32) -> &'t str + Sync) {
        let source = self.add_source(FieldVectors::TakenOver(vectors));
        let key = |row| (key(Kind::Question, Titled { title: None, text: text(row) }), Place { source, row });
        for (key, place) in (0..vectors.len() as u32).into_par_iter().map(key).collect::<Vec<_>>() {
            self.add_made(key, place);
        }
    }

    /// Adds a vector, unless it is one of zeros: what it stands for has none yet, or no word.
    fn add_made(&mut self, key: VectorKey, place: Place) {
        let vectors = self.vectors(place);
        if !vectors.is_empty() && vectors.codes(place.row).iter().any(|code| *code != 0) {
            self.places.insert(key, place);
        }
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
) -> Result<Vec<(Kind, VectorKey, u32)>> {
    let shown = texts.document(document)?;
    let title = shown.title.as_deref();
    let mut keys = Vec::new();
    for passage in graph.document_passages.of(document) {
        let shown = texts.passage(passage, graph.passage_sentences.of(passage))?;
        keys.push((Kind::Passage, key(Kind::Passage, Titled { title, text: &shown.text }), passage.0));
        for (span, sentence) in shown.sentences.iter().zip(graph.passage_sentences.of(passage)) {
            let text = Titled { title, text: span.of(&shown.text) };
            keys.push((Kind::Sentence, key(Kind::Sentence, text), sentence.0));
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
