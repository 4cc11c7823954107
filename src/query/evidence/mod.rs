//! The evidence of a question about every passage, from which retrievers and strategies start. Each field is computed
//! on first use and kept, so ranking by words alone does not pay for a walk.

pub(super) mod exact;
pub(super) mod filter;
pub(super) mod lexical;
mod literal;
pub(super) mod question;
pub(super) mod scope;
pub(super) mod spelling;

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Result;
use crate::graph::ordinal::{Column, CueOrdinal, EntityOrdinal, Ordinal as _, PassageOrdinal, SentenceOrdinal};
use crate::graph::packed::PassageGraph;
use crate::graph::trail::{Evidence, all_terms, weight};
use crate::query::session::query::Query;
use crate::store::{Networks, TextField, VectorField};
use crate::text::{cue, cue_of_stem, related, stem, term};
use lexical::FieldScores;
use question::{AskedQuestion, named_passages};

/// Maximum number of documents with a name of the question for the name to be evidence.
pub(super) const NAMED_BEARERS_MAX: usize = 30;
/// Weight of a word that is related to one of the question, relative to the word itself.
const RELATED_WORTH: f32 = 0.8;
/// Passages whose best sentences one thread finds at a time.
const PASSAGES_PER_TASK: usize = 8_192;

/// The fields that were computed so far.
#[derive(Default)]
pub(super) struct Fields {
    passage_words: OnceLock<Arc<PassageWords>>,
    sentence_words: OnceLock<FieldScores>,
    passage_covered: OnceLock<Vec<u64>>,
    sentence_covered: OnceLock<Vec<u64>>,
    best_sentence: OnceLock<Vec<f32>>,
    cosine: OnceLock<Vec<f32>>,
    sentence_cosine: OnceLock<Vec<f32>>,
    best_sentence_cosine: OnceLock<Vec<f32>>,
    named: OnceLock<(FxHashMap<PassageOrdinal, f32>, FxHashMap<PassageOrdinal, f32>)>,
    entities: OnceLock<FxHashSet<EntityOrdinal>>,
    cues: OnceLock<FxHashMap<CueOrdinal, f32>>,
    admitted: OnceLock<Option<Vec<bool>>>,
    /// If the store keeps none.
    networks: Networks,
}

/// The evidence of a question's words about passages, by ordinal.
pub(super) struct PassageWords {
    /// idf of the question's distinct terms.
    pub(super) idf: Vec<f32>,
    /// BM25 of each passage over the best.
    pub(super) bm25: Vec<f32>,
    /// Which of the terms each passage has, one bit a term.
    pub(super) terms: Vec<u64>,
}

impl PassageWords {
    /// Returns the idf of all terms in `terms`.
    pub(super) fn weight(&self, terms: u64) -> f32 {
        weight(&self.idf, terms)
    }

    /// Returns the bits of all terms.
    pub(super) fn all_terms(&self) -> u64 {
        all_terms(&self.idf)
    }

    /// Returns the idf of the whole question, more than nothing.
    pub(super) fn whole(&self) -> f32 {
        self.weight(self.all_terms()).max(1e-9)
    }
}

/// Returns the value of `field`, computed now if absent.
fn kept<T>(field: &OnceLock<T>, compute: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(known) = field.get() {
        return Ok(known);
    }
    let computed = compute()?;
    Ok(field.get_or_init(|| computed))
}

impl Query {
    /// Returns all of it, as `trail` starts from it.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn evidence(&self) -> Result<Evidence<'_>> {
        let words = || {
            let (passages, sentences) = rayon::join(|| self.passage_covered(), || self.best_sentence());
            passages.and(sentences)
        };
        let cosines = || rayon::join(|| self.cosine(), || self.best_sentence_cosine());
        let (words, (cosine, best_sentence_cosine)) = rayon::join(words, cosines);
        let (best_sentence, cosine, best_sentence_cosine) = (words?, cosine?, best_sentence_cosine?);
        let passages = self.passage_words()?;
        let (named, named_lead) = self.named();
        Ok(Evidence {
            idf: &passages.idf,
            passage_covered: self.passage_covered()?,
            sentence_covered: self.sentence_covered()?,
            bm25: Column::new(&passages.bm25),
            best_sentence,
            cosine,
            best_sentence_cosine,
            named,
            named_lead,
            entities: self.entities(),
            cues: self.cues()?,
            documents: self.reader.counts().documents as f32,
            allowed: self.allowed.as_deref().map(Column::new),
        })
    }

    /// Returns the networks over the whole version.
    pub(super) fn networks(&self) -> &Networks {
        self.reader.networks().unwrap_or(&self.fields.networks)
    }

    /// Returns what its words say about passages.
    pub(super) fn passage_words(&self) -> Result<&Arc<PassageWords>> {
        kept(&self.fields.passage_words, || {
            let reader = self.reader.as_ref();
            let FieldScores { mut bm25, terms, frequencies } =
                lexical::score(reader, TextField::Passage, &self.question.distinct)?;
            lexical::normalize(&mut bm25);
            let texts = lexical::count(reader, TextField::Passage);
            let idf = frequencies.iter().map(|count| lexical::idf(texts, (*count).max(1))).collect();
            Ok(Arc::new(PassageWords { idf, bm25, terms }))
        })
    }

    /// Returns what its words say about sentences.
    pub(super) fn sentence_words(&self) -> Result<&FieldScores> {
        let score = || lexical::score(self.reader.as_ref(), TextField::Sentence, &self.question.distinct);
        kept(&self.fields.sentence_words, score)
    }

    fn passage_covered(&self) -> Result<Column<'_, PassageOrdinal, u64>> {
        let terms = &self.passage_words()?.terms;
        kept(&self.fields.passage_covered, || self.covered(TextField::Passage, terms)).map(|it| Column::new(it))
    }

    fn sentence_covered(&self) -> Result<Column<'_, SentenceOrdinal, u64>> {
        let terms = &self.sentence_words()?.terms;
        kept(&self.fields.sentence_covered, || self.covered(TextField::Sentence, terms)).map(|it| Column::new(it))
    }

    /// BM25 of each passage's best sentence over the best.
    fn best_sentence(&self) -> Result<Column<'_, PassageOrdinal, f32>> {
        self.sentence_covered()?;
        let best = || {
            let mut best = best_of_sentences(self.reader.graph(), &self.sentence_words()?.bm25, 0.0);
            lexical::normalize(&mut best);
            Ok(best)
        };
        kept(&self.fields.best_sentence, best).map(|it| Column::new(it))
    }

    /// Returns the cosine of each passage; empty without an embedder.
    pub(super) fn cosine(&self) -> Result<Column<'_, PassageOrdinal, f32>> {
        kept(&self.fields.cosine, || self.cosines(VectorField::Passage)).map(|it| Column::new(it))
    }

    /// Returns the cosine of each sentence; empty without an embedder.
    pub(super) fn sentence_cosine(&self) -> Result<Column<'_, SentenceOrdinal, f32>> {
        kept(&self.fields.sentence_cosine, || self.cosines(VectorField::Sentence)).map(|it| Column::new(it))
    }

    /// Returns the cosine of everything in a field; empty without an embedder.
    pub(super) fn cosines(&self, field: VectorField) -> Result<Vec<f32>> {
        let asked = self.question.vector.view();
        // Vectors that nothing is compared with are neither read nor checked.
        if asked.is_empty() { Ok(Vec::new()) } else { Ok(self.reader.vectors(field)?.cosines(&asked)) }
    }

    fn best_sentence_cosine(&self) -> Result<Column<'_, PassageOrdinal, f32>> {
        let cosines = self.sentence_cosine()?;
        let best = || match cosines.items() {
            [] => Ok(Vec::new()),
            cosines => Ok(best_of_sentences(self.reader.graph(), cosines, -1.0)),
        };
        kept(&self.fields.best_sentence_cosine, best).map(|it| Column::new(it))
    }

    /// Returns the cosine of the best sentence of one passage, without a look at all others; none without an embedder.
    pub(super) fn best_sentence_cosine_of(&self, passage: PassageOrdinal) -> Result<Option<f32>> {
        if let Some(known) = self.fields.best_sentence_cosine.get() {
            return Ok(known.get(passage.index()).copied());
        }
        let asked = self.question.vector.view();
        if asked.is_empty() {
            return Ok(None);
        }
        let sentences = self.reader.vectors(VectorField::Sentence)?;
        if sentences.is_empty() {
            return Ok(None);
        }
        let own = self.reader.graph().passage_sentences.of(passage);
        Ok(Some(own.map(|sentence| sentences.cosine(sentence.0, &asked, 0)).fold(-1.0, f32::max)))
    }

    /// Returns the cosine of one sentence, without a look at all others; none without an embedder.
    pub(super) fn sentence_cosine_of(&self, sentence: SentenceOrdinal) -> Result<Option<f32>> {
        if let Some(known) = self.fields.sentence_cosine.get() {
            return Ok(known.get(sentence.index()).copied());
        }
        let asked = self.question.vector.view();
        if asked.is_empty() {
            return Ok(None);
        }
        let sentences = self.reader.vectors(VectorField::Sentence)?;
        Ok((!sentences.is_empty()).then(|| sentences.cosine(sentence.0, &asked, 0)))
    }

    fn named(&self) -> &(FxHashMap<PassageOrdinal, f32>, FxHashMap<PassageOrdinal, f32>) {
        self.fields.named.get_or_init(|| named_passages(&self.question, self.reader.graph(), NAMED_BEARERS_MAX))
    }

    /// Returns whether the question names the document of a passage.
    pub(super) fn names_passage(&self, passage: PassageOrdinal) -> bool {
        let (by_title, by_lead) = self.named();
        by_title.contains_key(&passage) || by_lead.contains_key(&passage)
    }

    /// Returns the entities that it names, with or without a document.
    pub(super) fn entities(&self) -> &FxHashSet<EntityOrdinal> {
        self.fields.entities.get_or_init(|| entities(&self.question, self.reader.graph()))
    }

    fn cues(&self) -> Result<&FxHashMap<CueOrdinal, f32>> {
        let idf = &self.passage_words()?.idf;
        let idf_of = |word: &str| {
            let own = term(word);
            self.question.distinct.iter().position(|(term, _)| *term == own).map_or(0.0, |term| idf[term])
        };
        Ok(self.fields.cues.get_or_init(|| cues(&self.question, self.reader.graph(), &idf_of)))
    }

    /// Returns which terms each text covers: those that it has, and those that it has a related one of.
    fn covered(&self, field: TextField, had: &[u64]) -> Result<Vec<u64>> {
        let mut covered = had.to_vec();
        for (number, (term, _)) in self.question.distinct.iter().enumerate() {
            for other in related(term) {
                self.reader.postings(field, other, &mut |text, _| covered[text as usize] |= 1 << number)?;
            }
        }
        Ok(covered)
    }

    /// Returns which passages may be shown once they are at hand, if not all may: of an excerpt, those that filters
    /// leave, at hand or not. Exact phrases are only searched for in passages at hand.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub(super) fn admitted(&self) -> Result<Option<&[bool]>> {
        if self.reader.excerpt().is_none() || !self.exact.phrases.is_empty() {
            return Ok(self.allowed.as_deref());
        }
        kept(&self.fields.admitted, || filter::admitted(self.reader.as_ref(), &self.filters)).map(Option::as_deref)
    }

    /// Returns whether a passage may be shown.
    pub(super) fn is_allowed(&self, passage: PassageOrdinal) -> bool {
        self.allowed.as_ref().is_none_or(|allowed| allowed[passage.index()])
    }
}

/// Returns the best value of each passage's sentences, `least` if it has none.
fn best_of_sentences(graph: PassageGraph<'_>, scores: &[f32], least: f32) -> Vec<f32> {
    let sentences = graph.passage_sentences.items().par_windows(2).with_min_len(PASSAGES_PER_TASK);
    let best_of = |row: &[u32]| scores[row[0] as usize..row[1] as usize].iter().copied().fold(least, f32::max);
    sentences.map(best_of).collect()
}

fn entities(question: &AskedQuestion, graph: PassageGraph<'_>) -> FxHashSet<EntityOrdinal> {
    let capitalized = question.capitalized.iter().flat_map(|name| graph.entities(name));
    question.names.iter().map(|name| name.entity).chain(capitalized).collect()
}

/// Returns the weights of the question's words outside its names, and of related words, around a mention; the rarest
/// word has 1.
fn cues(question: &AskedQuestion, graph: PassageGraph<'_>, idf: &dyn Fn(&str) -> f32) -> FxHashMap<CueOrdinal, f32> {
    let mut worth: FxHashMap<String, f32> = FxHashMap::default();
    let mut offer = |cue: String, value: f32| {
        let best = worth.entry(cue).or_insert(0.0);
        *best = best.max(value);
    };
    for word in question.residual_words() {
        let value = idf(word);
        offer(cue(word), value);
        for other in related(&stem(word)) {
            offer(cue_of_stem(other.clone()), RELATED_WORTH * value);
        }
    }
    let most = worth.values().copied().fold(0.0, f32::max).max(1e-9);
    worth.into_iter().filter_map(|(text, value)| Some((graph.cue(&text)?, value / most))).collect()
}
