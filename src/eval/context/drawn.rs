//! Which documents answers draw on, judged by their words.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::query::{QUESTION_CHARS_MAX, QueryEngine, SearchOptions, StrategyKind};
use crate::text::{sentences, terms};

/// Distinct terms of a sentence below which it says too little to be placed.
const TERMS_MIN: usize = 5;
/// The share of them that a passage must have for the sentence to be placed there.
const SHARE_MIN: f64 = 0.5;
/// Sentences by which a document is drawn on at least: one may be chance.
const SENTENCES_MIN: u64 = 2;

/// The documents that the answers to a question draw on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Drawn {
    /// How many sentences are placed in each document, by its source id.
    documents: BTreeMap<String, u64>,
    /// Sentences that say enough to be placed.
    pub(super) sentences: u64,
    /// Those that are.
    pub(super) placed: u64,
}

impl Drawn {
    /// Looks each sentence of `answers` up by its words: it is placed in the document of the first passage, if that has
    /// half of them.
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
                // As plain words: what a model wrote may look like an operator or a quotation.
                let mut words = wanted.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
                // What a model wrote without an end is looked up by as many of its words as can be asked for.
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

    /// Returns the share of these documents that `is_there`, each as often as sentences are placed in it; nothing where
    /// there is none.
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
