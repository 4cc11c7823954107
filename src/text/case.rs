//! How often words occur in lower case and capitalized, which distinguishes common words from names.

use rustc_hash::{FxHashMap, FxHashSet};

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

    /// Returns the hash of each word, ascending, and how often it is written in lower case, otherwise, and otherwise
    /// inside a sentence.
    #[must_use]
    pub(crate) fn counts(&self) -> (Vec<u64>, [Vec<u32>; 3]) {
        let mut all: Vec<(u64, Cases)> = self.0.iter().map(|(word, cases)| (*word, *cases)).collect();
        all.sort_unstable_by_key(|it| it.0);
        let counts = |of: fn(&Cases) -> u32| all.iter().map(|(_, cases)| of(cases)).collect();
        let words = all.iter().map(|it| it.0).collect();
        (words, [counts(|it| it.lower), counts(|it| it.capitalized), counts(|it| it.inside)])
    }

    /// Returns what [`Self::counts`] has said.
    #[must_use]
    pub(crate) fn of_counts(words: &[u64], [lower, capitalized, inside]: [&[u32]; 3]) -> Self {
        let counts = lower.iter().zip(capitalized).zip(inside);
        let cases = counts.map(|((lower, capitalized), inside)| Cases {
            lower: *lower,
            capitalized: *capitalized,
            inside: *inside,
        });
        Self(words.iter().copied().zip(cases).collect())
    }

    /// Counts the words of some texts in place of those of others, which it has counted; returns the hashes of words
    /// that texts may now use otherwise.
    pub(crate) fn replace(&mut self, gone: &Self, added: &Self) -> FxHashSet<u64> {
        let mut changed = FxHashSet::default();
        for word in gone.0.keys().chain(added.0.keys().filter(|word| !gone.0.contains_key(word))) {
            let before = self.0.get(word).copied();
            let of = |counts: &Self| counts.0.get(word).copied().unwrap_or_default();
            let mut cases = before.unwrap_or_default().less(of(gone));
            cases.add(of(added));
            let now = (cases != Cases::default()).then_some(cases);
            if Cases::verdicts(before) != Cases::verdicts(now) {
                changed.insert(*word);
            }
            match now {
                Some(cases) => self.0.insert(*word, cases),
                None => self.0.remove(word),
            };
        }
        changed
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
        self.0.retain(|_, cases| cases.lower > 0 || cases.is_opener());
        self.0.shrink_to_fit();
        self
    }

    /// Returns whether the folded `word` is a common word: in lower case more than once in six times.
    #[must_use]
    pub(crate) fn is_mostly_lower(&self, word: &str) -> bool {
        Cases::verdicts(self.0.get(&hash(word)).copied()).is_mostly_lower
    }

    /// Returns whether the folded `word` may be no name by its capital alone: a common word, or one that is capitalized
    /// only where any word would be, as "Thus" and "Note" are.
    #[must_use]
    pub(crate) fn is_common(&self, word: &str) -> bool {
        Cases::verdicts(self.0.get(&hash(word)).copied()).is_common
    }

    /// Returns whether the folded `word` may be a name where a question capitalizes it. It is laxer than in a text:
    /// people write questions with fewer capitals at the beginning of a sentence.
    #[must_use]
    pub(crate) fn is_name_in_question(&self, word: &str) -> bool {
        let Cases { lower, capitalized, .. } = self.cases(word);
        lower < capitalized || !self.is_mostly_lower(word)
    }

    /// Returns how often the folded `word` is written.
    #[must_use]
    pub(crate) fn frequency(&self, word: &str) -> u64 {
        let Cases { lower, capitalized, .. } = self.cases(word);
        u64::from(lower) + u64::from(capitalized)
    }

    fn cases(&self, word: &str) -> Cases {
        self.0.get(&hash(word)).copied().unwrap_or_default()
    }
}

/// Returns whether the folded `word` is one of those with these hashes.
#[must_use]
pub(crate) fn is_among(words: &FxHashSet<u64>, word: &str) -> bool {
    words.contains(&hash(word))
}

/// Returns whether a sentence continues over the gap between two words.
fn goes_on(gap: &str) -> bool {
    !gap.contains(['.', '!', '?', ':', ';', '\n', '"', '“', '‘', '*', '|', '#', '`', '=', '>', '/', '_'])
}

/// Returns the hash of a word by FNV-1a: a version keeps it, so that it must be the same on every machine.
fn hash(word: &str) -> u64 {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    word.bytes().fold(0xcbf2_9ce4_8422_2325, fold)
}

/// A name is capitalized inside a sentence at least once in so many times.
const INSIDE_SHARE: u64 = 8;
/// A name that is seldom capitalized there is in lower case less than once in so many times.
const LOWER_SHARE: u64 = 64;

/// How texts may use a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Verdicts {
    is_mostly_lower: bool,
    is_common: bool,
}

impl Cases {
    /// Returns how texts may use a word that is counted so, or not at all.
    fn verdicts(counted: Option<Self>) -> Verdicts {
        let Self { lower, capitalized, .. } = counted.unwrap_or_default();
        let is_mostly_lower = 5 * u64::from(lower) > u64::from(capitalized);
        let is_opener = counted.is_some_and(Self::is_opener);
        Verdicts { is_mostly_lower, is_common: is_opener || is_mostly_lower }
    }

    /// Returns whether a word is capitalized only where any word would be; or almost only there, and it is written in
    /// lower case too: what is never in lower case may be a name that texts are headed with.
    fn is_opener(self) -> bool {
        let [lower, capitalized, inside] = [self.lower, self.capitalized, self.inside].map(u64::from);
        inside == 0 || (INSIDE_SHARE * inside < capitalized && LOWER_SHARE * lower > capitalized)
    }

    fn less(self, other: Self) -> Self {
        Self {
            lower: self.lower.saturating_sub(other.lower),
            capitalized: self.capitalized.saturating_sub(other.capitalized),
            inside: self.inside.saturating_sub(other.inside),
        }
    }

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
    fn a_word_with_a_capital_almost_only_where_any_word_has_one_is_common() {
        let note = "Note that it is so: Note this. ".repeat(8);
        let counts = counted(&format!("{note} the Note of it, a note"));
        assert!(counts.is_common("note"), "once of 17 times inside a sentence, and once in lower case");
        let counts = counted(&format!("{note} the Note of it"));
        assert!(!counts.is_common("note"), "never in lower case");
        let counts = counted(&format!("{note} the Note, the Note, the Note of it, a note"));
        assert!(!counts.is_common("note"), "three of 19 times inside a sentence");
    }

    #[test]
    fn without_names_nothing_else_is_said_of_any_word() {
        let notes = "Note it. ".repeat(9);
        let counts = counted(&format!("March march Élan Élan Élan Élan Élan élan moon Ada 1890 {notes} a Note. note"));
        let without = counts.clone().without_names();
        assert_eq!((counts.0.len(), without.0.len()), (7, 6));
        for word in ["march", "elan", "moon", "ada", "1890", "note", "unseen"] {
            assert!(word == "ada" || without.is_common(word) == counts.is_common(word), "{word}");
            assert_eq!(without.is_mostly_lower(word), counts.is_mostly_lower(word), "{word}");
            assert_eq!(without.is_name_in_question(word), counts.is_name_in_question(word), "{word}");
        }
    }

    #[test]
    fn counts_of_changed_texts_are_those_of_the_texts_that_are_now_there() {
        let texts = ["Moon over the mill. The Moon set.", "moon and Mill", "Note it. Note this"];
        let mut counts = counted(&texts.join("\n"));
        let (words, [lower, capitalized, inside]) = counts.counts();
        assert_eq!(CaseCounts::of_counts(&words, [&lower, &capitalized, &inside]), counts);
        let changed = counts.replace(&counted(texts[2]), &counted("So Mill. Note"));
        assert_eq!(counts, counted("Moon over the mill. The Moon set.\nmoon and Mill\nSo Mill. Note"));
        // "So" and "it" and "this" were unseen or are now; "Mill" and "Note" are used as before.
        for (word, expect) in [("so", true), ("it", true), ("this", true), ("mill", false), ("note", false)] {
            assert_eq!(is_among(&changed, word), expect, "{word}");
        }
        let kept: Vec<&str> = texts[..2].to_vec();
        counts.replace(&counted("So Mill. Note"), &CaseCounts::default());
        assert_eq!(counts, counted(&kept.join("\n")));
    }

    #[test]
    fn different_words_have_different_hashes_that_stay_the_same() {
        assert_eq!(
            ["", "a", "foobar"].map(hash),
            [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8]
        );
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
