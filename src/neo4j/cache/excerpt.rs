//! An excerpt of a version as a store: the whole structure, and texts and vectors of some passages.

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use tokio::runtime::Handle;

use super::GraphCache;
use super::fetch::{Fetched, Fetchings, hash};
use crate::domain::{Counts, IndexVersion, PassageId};
use crate::error::Result;
use crate::graph::descriptions::Descriptions;
use crate::graph::hierarchy::Hierarchy;
use crate::graph::ordinal::{DocumentOrdinal, IncomingOrdinal, Ordinal, OutgoingOrdinal, PassageOrdinal};
use crate::graph::packed::PassageGraph;
use crate::graph::resolution::Resolution;
use crate::graph::vectors::{NO_ROW, QuantizedVectors};
use crate::store::{DocumentText, GraphReader, Networks, PassageText, TextField, VectorField, Vectors};

/// See [`super`].
pub(super) struct Excerpt {
    cache: Arc<GraphCache>,
    /// The elements that the question compares, by ascending number.
    fetched: Fetchings,
    passages: SomeVectors,
    sentences: SomeVectors,
    incoming: SomeVectors,
    /// How many passages match what all texts were scanned for.
    matching: Option<usize>,
    /// Texts requested later, to be shown.
    later: RwLock<FxHashMap<PassageOrdinal, Arc<Fetched>>>,
}

/// The vectors of some items.
#[derive(Clone)]
struct SomeVectors {
    vectors: QuantizedVectors,
    rows: Vec<u32>,
}

impl SomeVectors {
    fn new(items: usize, dimension: usize) -> Self {
        let rows = if dimension == 0 { Vec::new() } else { vec![NO_ROW; items] };
        Self { vectors: QuantizedVectors::new(dimension), rows }
    }

    /// Gives an item the vector that is pushed next.
    fn claim(&mut self, item: impl Ordinal) {
        self.rows[item.index()] = self.vectors.len() as u32;
    }

    fn view(&self) -> Vectors<'_> {
        Vectors { rows: Some(&self.rows), ..self.vectors.view() }
    }
}

impl Excerpt {
    pub(super) fn new(cache: Arc<GraphCache>, fetched: Fetchings, questions: &[(IncomingOrdinal, Vec<f32>)]) -> Self {
        let (items, dimension) = (cache.structure.incoming.ids.len(), cache.state.dimension);
        let mut incoming = SomeVectors::new(items, dimension);
        for (question, vector) in questions.iter().filter(|it| it.1.len() == dimension && dimension > 0) {
            incoming.claim(*question);
            incoming.vectors.push(vector);
        }
        Self::with_questions(cache, fetched, incoming)
    }

    /// Returns it as what was found by a scan of all texts, with how many passages match.
    pub(super) fn scanned(self, matching: Option<usize>) -> Self {
        Self { matching, ..self }
    }

    fn with_questions(cache: Arc<GraphCache>, fetched: Fetchings, incoming: SomeVectors) -> Self {
        let (graph, dimension) = (cache.structure.graph.view(), cache.state.dimension);
        let mut passages = SomeVectors::new(graph.passage_count(), dimension);
        let mut sentences = SomeVectors::new(graph.sentence_count(), dimension);
        for (passage, fetched) in &fetched {
            // A passage of another dimension has no rows; one of no text has none either.
            let mut rows = fetched.vectors.chunks_exact(dimension + size_of::<f32>());
            if let Some(own) = rows.next().filter(|_| dimension > 0) {
                passages.claim(*passage);
                passages.vectors.push_bytes(own);
                for (sentence, own) in graph.passage_sentences.of(*passage).zip(rows) {
                    sentences.claim(sentence);
                    sentences.vectors.push_bytes(own);
                }
            }
        }
        Self { passages, sentences, incoming, fetched, matching: None, later: RwLock::default(), cache }
    }

    /// Returns passages that are not at hand, fetched.
    fn fetch(&self, passages: &[PassageOrdinal]) -> Result<Fetchings> {
        if passages.is_empty() {
            return Ok(Fetchings::new());
        }
        let GraphCache { fetcher, version, structure, .. } = &*self.cache;
        Handle::current().block_on(fetcher.fetch(*version, structure, passages))
    }

    fn find(&self, passage: PassageOrdinal) -> Option<Arc<Fetched>> {
        if let Ok(place) = self.fetched.binary_search_by_key(&passage, |it| it.0) {
            return Some(Arc::clone(&self.fetched[place].1));
        }
        self.later.read().unwrap_or_else(PoisonError::into_inner).get(&passage).cloned()
    }
}

impl GraphReader for Excerpt {
    fn version(&self) -> IndexVersion {
        self.cache.version()
    }

    fn counts(&self) -> Counts {
        self.cache.counts()
    }

    fn embedder(&self) -> &str {
        self.cache.embedder()
    }

    fn graph(&self) -> PassageGraph<'_> {
        self.cache.graph()
    }

    fn hierarchy(&self) -> Option<Hierarchy<'_>> {
        self.cache.hierarchy()
    }

    fn descriptions(&self) -> Option<Descriptions<'_>> {
        self.cache.descriptions()
    }

    fn resolution(&self) -> Option<Resolution<'_>> {
        self.cache.resolution()
    }

    fn networks(&self) -> Option<&Networks> {
        self.cache.networks()
    }

    fn matching(&self) -> Option<usize> {
        self.matching
    }

    fn is_all(&self) -> bool {
        self.cache.is_all()
    }

    fn has(&self, passage: PassageOrdinal) -> bool {
        self.find(passage).is_some()
    }

    fn with(&self, passages: &[PassageOrdinal]) -> Result<Option<Arc<dyn GraphReader>>> {
        let is_new = |it: &PassageOrdinal| self.fetched.binary_search_by_key(it, |known| known.0).is_err();
        let mut new: Vec<PassageOrdinal> = passages.iter().copied().filter(is_new).collect();
        new.sort_unstable();
        new.dedup();
        if new.is_empty() {
            return Ok(None);
        }
        let mut fetched = self.fetch(&new)?;
        fetched.extend(self.fetched.iter().cloned());
        fetched.sort_unstable_by_key(|it| it.0);
        Ok(Some(Arc::new(Self::with_questions(Arc::clone(&self.cache), fetched, self.incoming.clone()))))
    }

    fn vectors(&self, field: VectorField) -> Result<Vectors<'_>> {
        Ok(match field {
            VectorField::Passage => self.passages.view(),
            VectorField::Sentence => self.sentences.view(),
            VectorField::Incoming => self.incoming.view(),
        })
    }

    fn postings(&self, field: TextField, term: &str, visit: &mut dyn FnMut(u32, u32)) -> Result<()> {
        let (sentences, term) = (self.graph().passage_sentences, hash(term));
        for (passage, fetched) in &self.fetched {
            let Some(whole) = fetched.terms.count(term) else { continue };
            match field {
                TextField::Passage => visit(passage.0, whole),
                TextField::Sentence => {
                    for (sentence, terms) in sentences.of(*passage).zip(&fetched.sentences) {
                        if let Some(own) = terms.count(term) {
                            visit(sentence.0, own);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn frequency(&self, field: TextField, term: &str) -> Result<usize> {
        self.cache.frequency(field, term)
    }

    fn mean_length(&self, field: TextField) -> f32 {
        self.cache.mean_length(field)
    }

    fn excerpt(&self) -> Option<Vec<PassageOrdinal>> {
        Some(self.fetched.iter().map(|it| it.0).collect())
    }

    fn prepare(&self, passages: &[PassageOrdinal]) -> Result<()> {
        let missing: Vec<PassageOrdinal> = passages.iter().copied().filter(|passage| !self.has(*passage)).collect();
        let fetched = self.fetch(&missing)?;
        self.later.write().unwrap_or_else(PoisonError::into_inner).extend(fetched);
        Ok(())
    }

    fn passage(&self, passage: PassageOrdinal) -> Result<PassageText> {
        self.find(passage).map_or_else(|| self.cache.passage(passage), |fetched| Ok(fetched.shown.clone()))
    }

    fn passage_id(&self, passage: PassageOrdinal) -> PassageId {
        self.cache.passage_id(passage)
    }

    fn document(&self, document: DocumentOrdinal) -> Result<DocumentText> {
        self.cache.document(document)
    }

    fn incoming(&self, question: IncomingOrdinal) -> &str {
        self.cache.incoming(question)
    }

    fn outgoing(&self, question: OutgoingOrdinal) -> &str {
        self.cache.outgoing(question)
    }
}
