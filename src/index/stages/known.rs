//! Vectors that are there already, in an earlier version or kept elsewhere, by the texts that they stand for.

use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::difference::Difference;
use super::vectors::{CorpusVectors, Field, FieldVectors, Kind, Texts};
use crate::embed::Titled;
use crate::error::Result;
use crate::graph::ordinal::{IncomingOrdinal, Ordinal as _, OutgoingOrdinal, PassageOrdinal};
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
    pub(super) fn known(&self, texts: &Texts<'_>) -> Known<'_> {
        match self {
            Self::None => Known::default(),
            Self::Version(last) => Known::of(last, |_| true),
            Self::Kept(vectors) => Known::of_texts(texts, vectors),
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
    difference: Option<&'a Difference<'a>>,
    /// Whether every text of the last version has a vector: then one of zeros is that of a text without words.
    is_complete: bool,
}

impl<'a> Known<'a> {
    /// Knows the vectors of the last version. Those of documents that stay are found by their place.
    pub(super) fn beside(last: &'a LastVersion, difference: Option<&'a Difference<'a>>) -> Self {
        Self { difference, ..Self::of(last, |passage| difference.is_none_or(|it| it.is_gone(passage))) }
    }

    /// Knows the vectors of the last version, by the texts of these passages. Of what is damaged nothing is known.
    fn of(last: &'a LastVersion, is_one: impl Fn(PassageOrdinal) -> bool + Sync) -> Self {
        let mut known = Self { is_complete: last.has_all_vectors(), ..Self::default() };
        let (Some(graph), Some(texts)) = (last.graph(), last.texts()) else { return known };
        // A source a field, in the order of these.
        let stored = [VectorField::Passage, VectorField::Sentence, VectorField::Incoming].map(|it| last.vectors(it));
        for vectors in stored.into_iter().chain([last.outgoing_vectors()]) {
            known.add_source(FieldVectors::TakenOver(vectors.unwrap_or_default()));
        }
        let passages: Vec<PassageOrdinal> =
            PassageOrdinal::first(graph.passage_count()).filter(|it| is_one(*it)).collect();
        let keys = passages.into_par_iter().flat_map_iter(|passage| keys_of(texts, &graph, passage));
        for (field, key, row) in keys.collect::<Vec<_>>() {
            known.add_made(key, Place { source: field as u32, row });
        }
        known.add_questions(Field::Incoming, |row| {
            is_one(graph.incoming_passage[IncomingOrdinal(row)]).then(|| texts.incoming(IncomingOrdinal(row)))
        });
        let outgoing = texts.outgoing_passages();
        known.add_questions(Field::Outgoing, |row| {
            is_one(outgoing[OutgoingOrdinal(row)]).then(|| texts.outgoing(OutgoingOrdinal(row)))
        });
        known
    }

    fn of_texts(texts: &Texts<'_>, vectors: &'a CorpusVectors) -> Self {
        let mut known = Self::default();
        for field in Field::ALL {
            let vectors = vectors.of_field(field);
            let source = known.add_source(FieldVectors::TakenOver(vectors.view()));
            for (text, row) in texts.of_field(field).zip(0..vectors.len() as u32) {
                known.places.insert(key(field.kind(), text), Place { source, row });
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

    /// Adds a vector, unless it is one of zeros and the last version lacks some: then it may stand for one of these.
    fn add_made(&mut self, key: VectorKey, place: Place) {
        if self.is_made(place) {
            self.places.insert(key, place);
        }
    }

    fn is_made(&self, place: Place) -> bool {
        let vectors = self.vectors(place);
        !vectors.is_empty() && (self.is_complete || vectors.codes(place.row).iter().any(|code| *code != 0))
    }

    /// Returns where the vectors of the texts of a field are, as far as they are there already.
    pub(super) fn places(&self, field: Field, texts: &Texts<'_>) -> Vec<Option<Place>> {
        let mut places = vec![None; texts.len(field)];
        for (row, now) in self.difference.map(|it| it.rows(field)).unwrap_or_default() {
            let place = Place { source: field as u32, row };
            places[now as usize] = self.is_made(place).then_some(place);
        }
        let find = |(text, place): (usize, &mut Option<Place>)| {
            *place = place.or_else(|| self.find(field.kind(), texts.get(field, text)));
        };
        if !self.places.is_empty() {
            places.par_iter_mut().enumerate().for_each(find);
        }
        places
    }

    /// Returns the vectors of a field at some places, and where there is none the next of `added`. Those that an
    /// earlier version has of this field stay where they are: there may be gigabytes of them.
    pub(super) fn joined(
        &self,
        field: Field,
        places: &[Option<Place>],
        mut added: QuantizedVectors,
    ) -> FieldVectors<'a> {
        let field = field as u32;
        let earlier = match self.sources.get(field as usize) {
            Some(FieldVectors::TakenOver(vectors)) if vectors.dimension == added.dimension => *vectors,
            _ => Vectors { dimension: added.dimension, ..Vectors::default() },
        };
        let first = earlier.first_rows();
        let (first_added, mut next) = (first.len() as u32, 0..);
        let stays = |place: &Place| earlier.first_row(place.row).filter(|_| place.source == field);
        let row = |place: &Option<Place>| match place {
            Some(place) => stays(place).unwrap_or_else(|| {
                added.push_row(&self.vectors(*place), place.row);
                first_added + added.len() as u32 - 1
            }),
            None => first_added + next.next().unwrap_or_default(),
        };
        let rows = places.iter().map(row).collect();
        FieldVectors::Joined { first, added, rows }
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

/// Returns the keys of a passage and its sentences, each with its row.
fn keys_of(texts: &TextsFile, graph: &PassageGraph<'_>, passage: PassageOrdinal) -> Vec<(Field, VectorKey, u32)> {
    let (title, text) = (texts.title(graph.passage_document[passage]), texts.passage_text(passage));
    let sentences = graph.passage_sentences.of(passage);
    let mut keys = vec![(Field::Passages, key(Kind::Passage, Titled { title, text }), passage.0)];
    keys.extend(texts.sentences(sentences.clone()).zip(sentences).map(|(span, sentence)| {
        (Field::Sentences, key(Kind::Sentence, Titled { title, text: span.of(text) }), sentence.0)
    }));
    keys
}

pub(super) fn key(kind: Kind, Titled { title, text }: Titled<'_>) -> VectorKey {
    let mut hasher = blake3::Hasher::new();
    // No title and an empty one are the same to an embedder; a length keeps title and text apart.
    let title = title.unwrap_or_default();
    hasher.update(&[kind as u8]).update(&(title.len() as u64).to_le_bytes()).update(title.as_bytes());
    *hasher.update(text.as_bytes()).finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_of_zeros_is_made_where_no_text_lacks_one() {
        let mut vectors = QuantizedVectors::new(2);
        vectors.push(&[0.0, 0.0]);
        vectors.push(&[0.6, 0.8]);
        let made = |is_complete| {
            let sources = vec![FieldVectors::TakenOver(vectors.view())];
            let known = Known { sources, is_complete, ..Known::default() };
            [0, 1].map(|row| known.is_made(Place { source: 0, row }))
        };
        assert_eq!((made(true), made(false)), ([true, true], [false, true]));
    }
}
