//! Words: maximal runs of letters and digits, their positions, and how they are compared.

use std::ops::Range;

use super::fold::{fold, is_mark, push_folded};

/// A word where it stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The word as it is written.
    pub text: &'a str,
}

impl Word<'_> {
    /// Returns whether it begins with a capital letter.
    #[must_use]
    pub(crate) fn is_capitalized(&self) -> bool {
        self.text.starts_with(char::is_uppercase)
    }

    /// Returns whether it begins as a word of a name does: with a capital letter or a digit.
    #[must_use]
    pub(crate) fn is_name_like(&self) -> bool {
        self.text.starts_with(|c: char| c.is_uppercase() || c.is_numeric())
    }
}

/// Returns the words of `text`, in order. Combining marks belong to the letter before them.
#[must_use]
pub(crate) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::with_capacity(text.len() / 6);
    let mut open: Option<usize> = None;
    let (bytes, mut at) = (text.as_bytes(), 0);
    // Most of most texts is ASCII, which says by one byte what it is.
    while let Some(byte) = bytes.get(at) {
        let (is_of_word, goes_on, len) = if byte.is_ascii() {
            let is_of_word = byte.is_ascii_alphanumeric();
            (is_of_word, is_of_word, 1)
        } else {
            let c = text.get(at..).and_then(|rest| rest.chars().next()).unwrap_or_default();
            let is_of_word = c.is_alphanumeric();
            (is_of_word, is_of_word || is_mark(c), c.len_utf8())
        };
        match open {
            None if is_of_word => open = Some(at),
            Some(start) if !goes_on => {
                words.push(word(text, start, at));
                open = None;
            }
            _ => {}
        }
        at += len;
    }
    words.extend(open.map(|start| word(text, start, text.len())));
    words
}

fn word(text: &str, start: usize, end: usize) -> Word<'_> {
    Word { start, end, text: text.get(start..end).unwrap_or_default() }
}

/// Returns the words of `text`, folded and in lower case.
#[must_use]
pub(crate) fn tokens(text: &str) -> Vec<String> {
    words(&lower(text)).into_iter().map(|word| word.text.to_owned()).collect()
}

/// Returns `text` folded and in lower case; its words are [`tokens`].
#[must_use]
pub(crate) fn lower(text: &str) -> String {
    let folded = fold(text);
    if folded.is_ascii() { folded.to_ascii_lowercase() } else { folded.to_lowercase() }
}

/// Returns folded words as `text` writes them first, in lower case; a word that it does not have stays as it is.
#[must_use]
pub(crate) fn spelled(folded: &[String], text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let known: Vec<(Vec<String>, &str)> = words(&lower).iter().map(|word| (tokens(word.text), word.text)).collect();
    let written = |word: &String| known.iter().find(|(own, _)| own.as_slice() == std::slice::from_ref(word));
    folded.iter().map(|word| written(word).map_or_else(|| word.clone(), |(_, text)| (*text).to_owned())).collect()
}

/// The words of a text beside their folded spellings; keys of runs of words are slices, so that looking one up
/// allocates nothing.
pub(crate) struct FoldedWords<'a> {
    pub(crate) words: Vec<Word<'a>>,
    /// Folded spellings, joined by one space.
    folded: String,
    /// Where each spelling lies in `folded`.
    bounds: Vec<Range<usize>>,
}

impl<'a> FoldedWords<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        let words = words(text);
        let mut folded = String::with_capacity(text.len());
        let mut bounds = Vec::with_capacity(words.len());
        for word in &words {
            if !folded.is_empty() {
                folded.push(' ');
            }
            let start = folded.len();
            push_folded(word.text, &mut folded);
            bounds.push(start..folded.len());
        }
        Self { words, folded, bounds }
    }

    /// Returns the folded spelling of one word.
    pub(crate) fn word(&self, index: usize) -> &str {
        self.key(index..index + 1)
    }

    /// Returns the folded spellings of some words, joined by one space.
    pub(super) fn key(&self, words: Range<usize>) -> &str {
        match self.bounds.get(words) {
            Some([first, .., last]) => self.folded.get(first.start..last.end).unwrap_or_default(),
            Some([only]) => self.folded.get(only.clone()).unwrap_or_default(),
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(words(text).iter().map(|word| word.text).collect::<Vec<_>>(), expect, "{text}");
        for word in words(text) {
            assert_eq!(&text[word.start..word.end], word.text);
        }
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        check("", &[]);
        check("Boso's lay- abbot", &["Boso", "s", "lay", "abbot"]);
        check("snake_case, 19.5", &["snake", "case", "19", "5"]);
        check("Cafe\u{301}s de Čapek", &["Cafe\u{301}s", "de", "Čapek"]);
        check("東京。大阪", &["東京", "大阪"]);
    }

    #[test]
    fn tokens_are_folded_and_in_lower_case() {
        assert_eq!(tokens("Čapek & Þórr's ﬁlm"), ["capek", "þorr", "s", "film"]);
    }

    #[test]
    fn folded_words_are_found_as_they_are_written() {
        let folded = tokens("Čapek and the ﬁlm of ½");
        assert_eq!(spelled(&folded, "Čapek and the ﬁlm of ½"), ["čapek", "and", "the", "ﬁlm", "of", "1", "2"]);
        assert_eq!(spelled(&["capek".to_owned()], "Capek, Čapek"), ["capek"]);
    }

    #[test]
    fn keys_of_words_are_their_folded_spellings_joined() {
        let folded = FoldedWords::of("St. Maurice's Ábbey");
        assert_eq!(folded.key(0..4), "st maurice s abbey");
        assert_eq!(folded.word(3), "abbey");
        assert_eq!(folded.key(2..9), "");
        assert_eq!(folded.key(1..1), "");
    }
}
