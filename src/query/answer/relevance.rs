//! The relevance of the passages found: of each, and of all together, which decides whether to answer or stay silent.

use rustc_hash::FxHashMap;

use crate::domain::PassageId;
use crate::error::Result;
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};
use crate::query::session::query::Ranking;

/// Passages that are considered.
const PASSAGES_MAX: usize = 8;

// Evidence for an answer, besides the largest share of the question's idf that one passage covers. The weights were
// fitted on questions with and without an answer over documents of six kinds, and rounded; docs/figures.md has the
// results of each threshold there and on held-out documents.

/// Worth of the share that the first passage covers.
const FIRST: f32 = 0.85;
/// Worth of the cosine of the best sentence.
const COSINE: f32 = 0.65;
/// Price of the share of the question's idf that is in words that no passage has.
const UNKNOWN: f32 = 0.8;
/// Worth of a name in the question that the index knows.
const KNOWN: f32 = 0.15;
/// Weight of a name in it that a document has.
const BORNE: f32 = 0.3;
/// What all of it must come to.
const EVIDENCE_MIN: f32 = 1.0;
/// The threshold without vectors.
const EVIDENCE_ALONE_MIN: f32 = 0.6;

/// Returns what speaks for each of the best `count` passages, by the words and the meaning that it shares with the
/// question.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn worths(found: &Ranking, count: usize) -> Result<FxHashMap<PassageId, f32>> {
    let query = &found.query;
    let words = query.passage_words()?;
    let worth = |(passage, _): &(PassageOrdinal, f32)| {
        let covered = words.weight(words.terms[passage.index()]) / words.whole();
        let cosine = query.best_sentence_cosine_of(*passage)?.unwrap_or(0.0);
        Ok((query.reader.passage_id(*passage), covered + COSINE * cosine))
    };
    found.ranked.iter().take(count).map(worth).collect()
}

/// Returns whether the passages found have anything to do with the question, by the words, the meaning and the names
/// that they share with it.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn is_relevant(found: &Ranking) -> Result<bool> {
    let query = &found.query;
    let words = query.passage_words()?;
    let read = || found.ranked.iter().take(PASSAGES_MAX).map(|it| it.0);
    if read().next().is_none() {
        return Ok(false);
    }
    let mut shares = read().map(|passage| words.weight(words.terms[passage.index()]) / words.whole());
    let first = shares.next().unwrap_or(0.0);
    let covered = shares.fold(first, f32::max);
    let frequencies = query.sentence_words()?.frequencies.iter();
    let unknown: f32 = frequencies.zip(&words.idf).filter(|(count, _)| **count == 0).map(|(_, idf)| *idf).sum();
    let worth = |is: bool, worth: f32| if is { worth } else { 0.0 };
    let evidence = covered + FIRST * first - UNKNOWN * unknown / words.whole()
        + worth(!query.entities().is_empty(), KNOWN)
        + worth(!query.question.names.is_empty(), BORNE);
    let cosines = read().map(|passage| query.best_sentence_cosine_of(passage)).collect::<Result<Vec<_>>>()?;
    Ok(match cosines.into_iter().collect::<Option<Vec<f32>>>() {
        None => evidence >= EVIDENCE_ALONE_MIN,
        Some(cosines) => evidence + COSINE * cosines.into_iter().fold(0.0, f32::max) >= EVIDENCE_MIN,
    })
}
