//! Which documents answers draw on, judging by their words.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::query::{QUESTION_CHARS_MAX, QueryEngine, SearchOptions, StrategyKind};
use crate::text::{sentences, terms};

/// Sentences with fewer distinct terms than this are too short to be placed.
const TERMS_MIN: usize = 5;
/// A passage must have this share of the terms for the sentence to be placed there.
const SHARE_MIN: f64 = 0.5;
/// Sentences from a document that are needed to say that it is drawn on: one may be chance.
const SENTENCES_MIN: u64 = 2;

/// The documents that the answers to a question draw on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Drawn {
    /// How many sentences are placed in each document, by its source id.
    documents: BTreeMap<String, u64>,
    /// Sentences that are long enough to be placed.
    pub(super) sentences: u64,
    /// Sentences that were placed.
    pub(super) placed: u64,
}

impl Drawn {
    /// Looks up each sentence of `answers` by its words: it is placed in the document of the first passage found, if
    /// that has half of them.
    pub(super) async fn of(engine: &QueryEngine, answers: &[&str]) -> Result<Self> {
        let search = SearchOptions { strategy: StrategyKind::Lexical, top_k: 1, ..SearchOptions::default() };
        let mut drawn = Self::default();
        for answer in answers {
            for range in sentences(answer) {
                let sentence = &answer[range];
                let wanted: BTreeSet<String> = terms(sentence).into_iter().collect();
                if wanted.len() < TERMS_MIN {
                    continue;
                }
                drawn.sentences += 1;
                // As plain words: a model's text may look like operators or quotations.
                let mut words = wanted.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
                // If a sentence of a model never ends, it is looked up by as many words as a question may have.
                if let Some((end, _)) = words.char_indices().nth(QUESTION_CHARS_MAX) {
                    words.truncate(end);
                }
                let Some(hit) = engine.search(&words, &search).await?.hits.into_iter().next() else { continue };
                let own = terms(&format!("{} {}", hit.name, hit.text)).into_iter().collect();
                if super::covered(&wanted, &own) >= SHARE_MIN {
                    drawn.placed += 1;
                    *drawn.documents.entry(hit.source_id).or_default() += 1;
                }
            }
        }
        drawn.documents.retain(|_, sentences| *sentences >= SENTENCES_MIN);
        Ok(drawn)
    }

    /// Returns the share of these documents for which `is_there` holds, each weighted by the sentences placed in it;
    /// none without documents.
    pub(super) fn covered(&self, is_there: impl Fn(&str) -> bool) -> Option<f64> {
        let all: u64 = self.documents.values().sum();
        let there: u64 = self.documents.iter().filter(|(id, _)| is_there(id)).map(|it| it.1).sum();
        (all > 0).then(|| there as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_counts_as_often_as_it_is_drawn_on() {
        let documents = [("a".to_owned(), 3), ("b".to_owned(), 1)].into();
        let drawn = Drawn { documents, ..Drawn::default() };
        assert_eq!([drawn.covered(|id| id == "a"), drawn.covered(|_| false)], [Some(0.75), Some(0.0)]);
        assert_eq!(Drawn::default().covered(|_| true), None);
    }
}
