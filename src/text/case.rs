//! How often words are written in lower case and capitalized: what tells a common word from a name.

use std::hash::BuildHasher as _;

use rustc_hash::{FxBuildHasher, FxHashMap};

use super::fold::push_folded;
use super::words::words;

/// Counts of each folded word over texts.
///
/// A word is kept as its hash of 64 bits, since a text of nothing but different words has millions of them: of ten
/// million, two have one hash, and are counted as one word, with a chance of 3 in a million.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CaseCounts(FxHashMap<u64, Cases>);

#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Cases {
    lower: u32,
    /// Whatever does not begin in lower case.
    capitalized: u32,
    /// Of these, those that no sentence, line or quotation begins with: whose capital says something.
    inside: u32,
}

impl CaseCounts {
    /// Counts the words of `text`.
    pub(crate) fn add(&mut self, text: &str) {
        let mut folded = String::new();
        let mut before = None;
        for word in words(text) {
            let is_inside = before.is_some_and(|end| goes_on(text.get(end..word.start).unwrap_or_default()));
            before = Some(word.end);
            if word.text.starts_with(char::is_numeric) {
                continue;
            }
            folded.clear();
            push_folded(word.text, &mut folded);
            let is_lower = word.text.starts_with(char::is_lowercase);
            let (lower, capitalized) = (u32::from(is_lower), u32::from(!is_lower));
            let counted = Cases { lower, capitalized, inside: u32::from(!is_lower && is_inside) };
            self.0.entry(hash(&folded)).or_default().add(counted);
        }
    }

    /// Adds what `other` counted.
    pub(crate) fn merge(&mut self, mut other: Self) {
        if self.0.len() < other.0.len() {
            std::mem::swap(self, &mut other);
        }
        for (word, counted) in other.0 {
            self.0.entry(word).or_default().add(counted);
        }
    }

    /// Forgets the words that are names wherever they stand: what is said of them is what is said of unknown words.
    #[must_use]
    pub(crate) fn without_names(mut self) -> Self {
        self.0.retain(|_, cases| cases.lower > 0 || cases.inside == 0);
        self.0.shrink_to_fit();
        self
    }

    /// Returns whether the folded `word` is a common word: in lower case more than once in six times.
    #[must_use]
    pub(crate) fn is_mostly_lower(&self, word: &str) -> bool {
        let Cases { lower, capitalized, .. } = self.cases(word);
        5 * u64::from(lower) > u64::from(capitalized)
    }

    /// Returns whether the folded `word` may be no name by its capital alone: a common word, or one that is capitalized
    /// only where any word would be, as "Thus" and "Note" are.
    #[must_use]
    pub(crate) fn is_common(&self, word: &str) -> bool {
        let is_opener = self.0.get(&hash(word)).is_some_and(|cases| cases.inside == 0);
        is_opener || self.is_mostly_lower(word)
    }

    /// Returns whether the folded `word` may be a name where a question capitalizes it. It is laxer than in a text:
    /// people write questions with fewer capitals at the beginning of a sentence.
    #[must_use]
    pub(crate) fn is_name_in_question(&self, word: &str) -> bool {
        let Cases { lower, capitalized, .. } = self.cases(word);
        lower < capitalized || !self.is_mostly_lower(word)
    }

    fn cases(&self, word: &str) -> Cases {
        self.0.get(&hash(word)).copied().unwrap_or_default()
    }
}

/// Returns whether a sentence goes on over the gap between two words.
fn goes_on(gap: &str) -> bool {
    !gap.contains(['.', '!', '?', ':', ';', '\n', '"', '“', '‘', '*', '|', '#', '`', '=', '>', '/', '_'])
}

fn hash(word: &str) -> u64 {
    FxBuildHasher.hash_one(word)
}

impl Cases {
    fn add(&mut self, other: Self) {
        self.lower = self.lower.saturating_add(other.lower);
        self.capitalized = self.capitalized.saturating_add(other.capitalized);
        self.inside = self.inside.saturating_add(other.inside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(text: &str) -> CaseCounts {
        let mut counts = CaseCounts::default();
        counts.add(text);
        counts
    }

    #[test]
    fn a_common_word_is_one_often_in_lower_case() {
        let counts = counted("March march Élan Élan Élan Élan Élan élan moon");
        assert!(counts.is_mostly_lower("march") && !counts.is_name_in_question("march"));
        assert!(!counts.is_mostly_lower("elan") && counts.is_name_in_question("elan"));
        assert!(counts.is_mostly_lower("moon") && !counts.is_name_in_question("moon"));
        assert!(!counts.is_mostly_lower("unseen") && counts.is_name_in_question("unseen"));
        let counts = counted("Rose Rose rose");
        assert!(counts.is_mostly_lower("rose") && counts.is_name_in_question("rose"));
    }

    #[test]
    fn without_names_nothing_else_is_said_of_any_word() {
        let counts = counted("March march Élan Élan Élan Élan Élan élan moon Ada 1890");
        let without = counts.clone().without_names();
        assert_eq!((counts.0.len(), without.0.len()), (4, 3));
        for word in ["march", "elan", "moon", "ada", "1890", "unseen"] {
            assert_eq!(without.is_mostly_lower(word), counts.is_mostly_lower(word), "{word}");
            assert_eq!(without.is_name_in_question(word), counts.is_name_in_question(word), "{word}");
        }
    }

    #[test]
    fn different_words_have_different_hashes() {
        let mut hashes: Vec<u64> = (0..1_000_000).map(|number: u32| hash(&format!("mill{number}"))).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 1_000_000);
    }

    #[test]
    fn merged_counts_are_those_of_both_texts() {
        let mut merged = counted("Moon moon");
        merged.merge(counted("the Moon"));
        assert_eq!(merged, counted("Moon moon the Moon"));
    }
}
