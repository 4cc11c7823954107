//! What a question says about every passage: the evidence that strategies start from.

pub(super) mod filter;
pub(super) mod lexical;
pub(super) mod question;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Result;
use crate::graph::packed::PassageGraph;
use crate::graph::trail::Evidence;
use crate::query::evidence::question::{AskedQuestion, named_passages};
use crate::store::{GraphReader, TextField, VectorField};
use crate::text::{cue, cue_of_stem, related, stem};

/// Documents that may bear a name of the question for it to say anything.
pub(in crate::query) const NAMED_BEARERS_MAX: usize = 30;
/// Worth of a word that is related to one of the question, beside the word itself.
const RELATED_WORTH: f32 = 0.8;
/// Passages whose best sentences one thread finds at a time.
const PASSAGES_PER_TASK: usize = 8_192;

/// What a question says about passages, and about sentences for those who quote them.
#[derive(Debug, Clone, Default)]
pub(in crate::query) struct Gathered {
    /// What it says about passages.
    pub evidence: Evidence,
    /// Cosine of each sentence, by ordinal; empty without an embedder.
    pub sentence_cosine: Vec<f32>,
}

/// Gathers the evidence of `question`; `allowed` says which passages may be shown.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn gather(
    reader: &dyn GraphReader,
    question: &AskedQuestion,
    allowed: Option<Vec<bool>>,
) -> Result<Gathered> {
    let graph = reader.graph();
    let terms = lexical::distinct(&question.terms);
    let lexical = |field| -> Result<(lexical::FieldScores, Vec<u64>)> {
        let scores = lexical::score(reader, field, &terms)?;
        let covered = covered(reader, field, &terms, &scores.terms)?;
        Ok((scores, covered))
    };
    let cosines = |field| reader.vectors(field).cosines(&question.vector.view());
    let ((passages, sentences), (cosine, sentence_cosine)) = rayon::join(
        || rayon::join(|| lexical(TextField::Passage), || lexical(TextField::Sentence)),
        || (cosines(VectorField::Passage), cosines(VectorField::Sentence)),
    );
    let ((passages, passage_covered), (sentences, sentence_covered)) = (passages?, sentences?);
    let texts = lexical::count(reader, TextField::Passage);
    let idf: Vec<f32> = passages.frequencies.iter().map(|count| lexical::idf(texts, (*count).max(1))).collect();
    let mut bm25 = passages.bm25;
    let mut best_sentence = best_of_sentences(graph, &sentences.bm25, 0.0);
    lexical::normalize(&mut bm25);
    lexical::normalize(&mut best_sentence);
    let best_sentence_cosine =
        if sentence_cosine.is_empty() { Vec::new() } else { best_of_sentences(graph, &sentence_cosine, -1.0) };
    let (named, named_lead) = named_passages(question, graph, NAMED_BEARERS_MAX);
    let idf_of = |word: &str| {
        let stem = stem(word);
        terms.iter().position(|(term, _)| *term == stem).map_or(0.0, |term| idf[term])
    };
    let evidence = Evidence {
        cues: cues(question, graph, &idf_of),
        entities: entities(question, graph),
        documents: reader.counts().documents as f32,
        idf,
        passage_terms: passages.terms,
        sentence_terms: sentences.terms,
        passage_covered,
        sentence_covered,
        bm25,
        best_sentence,
        cosine,
        best_sentence_cosine,
        named,
        named_lead,
        allowed,
    };
    Ok(Gathered { evidence, sentence_cosine })
}

/// Returns which terms each text covers: those that it has, and those that it has a related one of.
fn covered(reader: &dyn GraphReader, field: TextField, terms: &[(String, f32)], had: &[u64]) -> Result<Vec<u64>> {
    let mut covered = had.to_vec();
    for (number, (term, _)) in terms.iter().enumerate() {
        for other in related(term) {
            reader.postings(field, other, &mut |text, _| covered[text as usize] |= 1 << number)?;
        }
    }
    Ok(covered)
}

/// Returns the best of each passage's sentences, `least` where it has none.
fn best_of_sentences(graph: PassageGraph<'_>, scores: &[f32], least: f32) -> Vec<f32> {
    let sentences = graph.passage_sentences.par_windows(2).with_min_len(PASSAGES_PER_TASK);
    let best_of = |row: &[u32]| scores[row[0] as usize..row[1] as usize].iter().copied().fold(least, f32::max);
    sentences.map(best_of).collect()
}

/// Returns the entities that the question names, known to bear a document or not.
fn entities(question: &AskedQuestion, graph: PassageGraph<'_>) -> FxHashSet<u32> {
    let capitalized = question.capitalized.iter().filter_map(|name| graph.entity(name));
    question.names.iter().map(|name| name.entity).chain(capitalized).collect()
}

/// Returns what the question's words outside its names are worth around a mention, related words among them; the rarest
/// word is worth 1.
fn cues(question: &AskedQuestion, graph: PassageGraph<'_>, idf: &dyn Fn(&str) -> f32) -> FxHashMap<u32, f32> {
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
