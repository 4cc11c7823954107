//! The relevance of the passages found: of each, and of all together, which decides whether to answer or stay silent.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::domain::PassageId;
use crate::error::Result;
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};
use crate::query::evidence::question::AskedQuestion;
use crate::query::session::query::Ranking;
use crate::text::telling_terms;

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
    let frequencies = &query.sentence_words()?.frequencies;
    let telling = telling(&query.question, frequencies);
    let whole = words.weight(telling).max(1e-9);
    let mut shares = read().map(|passage| words.weight(words.terms[passage.index()] & telling) / whole);
    let first = shares.next().unwrap_or(0.0);
    let covered = shares.fold(first, f32::max);
    let is_unknown = |(number, count): (u32, &usize)| if *count == 0 { 1 << number } else { 0 };
    let unknown: u64 = (0..).zip(frequencies).map(is_unknown).sum();
    let worth = |is: bool, worth: f32| if is { worth } else { 0.0 };
    let evidence = covered + FIRST * first - UNKNOWN * words.weight(unknown & telling) / whole
        + worth(!query.entities().is_empty(), KNOWN)
        + worth(!query.question.names.is_empty(), BORNE);
    let cosines = read().map(|passage| query.best_sentence_cosine_of(passage)).collect::<Result<Vec<_>>>()?;
    Ok(match cosines.into_iter().collect::<Option<Vec<f32>>>() {
        None => evidence >= EVIDENCE_ALONE_MIN,
        Some(cosines) => evidence + COSINE * cosines.into_iter().fold(0.0, f32::max) >= EVIDENCE_MIN,
    })
}

/// Returns which terms of a question say what it asks for, one bit a term: not those of words with which people ask,
/// nor a pair of characters that no text has and that is the end of one known word and the beginning of the next.
fn telling(question: &AskedQuestion, frequencies: &[usize]) -> u64 {
    let telling: FxHashSet<String> = telling_terms(&question.text).into_iter().collect();
    let known: FxHashSet<&str> =
        question.distinct.iter().zip(frequencies).filter(|it| *it.1 > 0).map(|it| it.0.0.as_str()).collect();
    let is_between = |triple: &[String; 3]| {
        let [before, pair, after] = triple;
        let (first, last) = (pair.chars().next(), pair.chars().last());
        let is_inside = pair.chars().count() == 2 && before.chars().last() == first && after.chars().next() == last;
        is_inside && known.contains(before.as_str()) && known.contains(after.as_str())
    };
    let between: FxHashSet<&str> =
        question.terms.array_windows().filter(|triple| is_between(triple)).map(|triple| triple[1].as_str()).collect();
    let says = |term: &str| telling.contains(term) && (known.contains(term) || !between.contains(term));
    let bits_of = |says: &dyn Fn(&str) -> bool| -> u64 {
        (0..).zip(&question.distinct).map(|(number, (term, _))| if says(term) { 1 << number } else { 0 }).sum()
    };
    let bits = bits_of(&says);
    if bits == 0 { bits_of(&|_| true) } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::NoEmbedder;

    #[tokio::test]
    async fn words_that_ask_and_pairs_between_known_words_tell_nothing() {
        for (question, known, telling_due) in [
            ("备份保存多少天?", vec!["备份", "保存"], "备份 保存"),
            ("备份保存多少天?", vec!["备份"], "备份 份保 保存"),
            ("How do I install my kestrel?", vec!["instal"], "instal kestrel"),
            ("Where are we?", vec![], "we"),
            ("多少钱?", vec![], "多少 少钱"),
        ] {
            let asked = AskedQuestion::parse(question, &NoEmbedder).await.unwrap();
            let frequencies: Vec<usize> =
                asked.distinct.iter().map(|it| usize::from(known.contains(&it.0.as_str()))).collect();
            let bits = telling(&asked, &frequencies);
            assert_eq!(bits >> asked.distinct.len(), 0, "{question}");
            let told = (0..).zip(&asked.distinct).filter(|it| bits & (1 << it.0) != 0).map(|it| it.1.0.as_str());
            assert_eq!(told.collect::<Vec<_>>().join(" "), telling_due, "{question}, {known:?}");
        }
    }
}
