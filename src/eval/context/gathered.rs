//! The context gathered for a question, as a model would read it, and what can be measured without a model.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Answer, Citation, ContextLevel, LayersFound};
use crate::text::{english, terms, tokens as words};

/// Length of the word sequences by which a passage repeats another.
const REPEATED_WORDS: usize = 5;

/// The terms of each level, except passages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) local: BTreeSet<String>,
    pub(super) global: BTreeSet<String>,
    pub(super) bridge: BTreeSet<String>,
}

/// The context of one question.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Gathered {
    texts: Vec<String>,
    /// Tokens quoted from each document, by its source id.
    pub(super) documents: BTreeMap<String, u64>,
    /// All its terms.
    pub(super) terms: BTreeSet<String>,
    /// Its length.
    pub(super) tokens: u64,
    /// What is on each level.
    pub(super) levels: Level,
}

impl Gathered {
    /// Returns the levels, followed by as many passages as fit in `tokens_max`, but at least one.
    pub(super) fn of(answer: &Answer, tokens_max: usize) -> Self {
        let mut gathered = Self::default();
        if let Some(layers) = answer.ledger.layers.as_deref() {
            gathered.read_levels(layers);
        }
        for (hit, place) in answer.hits.iter().zip(0..) {
            let size = (english().count(&hit.name) + english().count(&hit.text)) as u64;
            if place > 0 && gathered.tokens + size > tokens_max as u64 {
                break;
            }
            gathered.add(&[&hit.name, &hit.text], size);
            *gathered.documents.entry(hit.source_id.clone()).or_default() += size;
        }
        gathered.terms = gathered.texts.iter().flat_map(|text| terms(text)).collect();
        gathered
    }

    fn read_levels(&mut self, layers: &LayersFound) {
        let mut of_level = |rows: Vec<(Vec<&str>, Vec<&Citation>)>, level| {
            let shares = layers.context.iter();
            self.tokens += shares.filter(|it| it.level == level).map(|it| u64::from(it.tokens)).sum::<u64>();
            let mut own = BTreeSet::new();
            for (mut texts, citations) in rows {
                for citation in &citations {
                    let size = english().count(&citation.quote) as u64;
                    *self.documents.entry(citation.source_id.clone()).or_default() += size;
                }
                texts.extend(citations.iter().map(|it| it.quote.as_str()));
                own.extend(texts.iter().flat_map(|text| terms(text)));
                self.texts.push(texts.join("\n"));
            }
            own
        };
        let entities = layers.entities.iter().map(|it| {
            let said = it.summary.iter().map(|finding| finding.text.as_str());
            ([it.name.as_str()].into_iter().chain(said).collect(), it.citations().collect())
        });
        let local = of_level(entities.collect(), ContextLevel::Local);
        let communities = layers.communities.iter().map(|it| {
            let said = it.summary.iter().chain(it.report.iter().map(|finding| &finding.text)).map(String::as_str);
            ([it.title.as_str()].into_iter().chain(said).collect(), it.citations().collect())
        });
        let global = of_level(communities.collect(), ContextLevel::Global);
        let relations = layers.relations.iter();
        let relations = relations.map(|it| (vec![it.from.as_str(), &it.to], it.sentence.iter().collect()));
        let bridge = of_level(relations.collect(), ContextLevel::Bridge);
        self.levels = Level { local, global, bridge };
    }

    fn add(&mut self, texts: &[&str], tokens: u64) {
        self.texts.push(texts.join("\n"));
        self.tokens += tokens;
    }

    /// Returns the effective number of documents, as if all had equal parts: the exponential of the entropy of their
    /// tokens.
    pub(super) fn diversity(&self) -> f64 {
        let all = self.documents.values().sum::<u64>() as f64;
        let shares = self.documents.values().filter(|tokens| **tokens > 0).map(|tokens| *tokens as f64 / all);
        let entropy: f64 = shares.map(|share| -share * share.ln()).sum();
        if self.documents.is_empty() { 0.0 } else { entropy.exp() }
    }

    /// Returns the share of five-word sequences that occurred before in the context.
    pub(super) fn redundancy(&self) -> f64 {
        let (mut seen, mut all, mut repeated) = (BTreeSet::new(), 0_u64, 0_u64);
        for text in &self.texts {
            for sequence in words(text).windows(REPEATED_WORDS) {
                all += 1;
                repeated += u64::from(!seen.insert(sequence.join(" ")));
            }
        }
        if all == 0 { 0.0 } else { repeated as f64 / all as f64 }
    }
}

/// Returns the share of `wanted` that `own` contains; 1 if nothing is wanted.
pub(super) fn covered(wanted: &BTreeSet<String>, own: &BTreeSet<String>) -> f64 {
    if wanted.is_empty() { 1.0 } else { wanted.intersection(own).count() as f64 / wanted.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(texts: &[&str], documents: &[(&str, u64)]) -> Gathered {
        let documents = documents.iter().map(|(id, tokens)| ((*id).to_owned(), *tokens)).collect();
        Gathered { texts: texts.iter().map(|it| (*it).to_owned()).collect(), documents, ..Gathered::default() }
    }

    #[test]
    fn documents_of_equal_parts_are_as_many_as_they_are() {
        let diversity = |documents: &[(&str, u64)]| gathered(&[], documents).diversity();
        assert!((diversity(&[("a", 5), ("b", 5), ("c", 5)]) - 3.0).abs() < 1e-9);
        assert!(diversity(&[("a", 98), ("b", 1), ("c", 1)]) < 1.2);
        assert!(diversity(&[]).abs() < 1e-9 && (diversity(&[("a", 5), ("b", 0)]) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_repeated_counts_from_the_second_time() {
        let redundancy = |texts: &[&str]| gathered(texts, &[]).redundancy();
        assert!(redundancy(&["one two three four five six", "one two three"]).abs() < 1e-9);
        let twice = redundancy(&["one two three four five six", "One two, three four five six."]);
        assert!((twice - 0.5).abs() < 1e-9, "{twice}");
    }
}
