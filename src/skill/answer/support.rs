//! Whether passages support a sentence, by rule: a check of words, not of meaning. It finds invented names and numbers,
//! the mark of a model that makes things up; it does not notice a reversed relation.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::text::{Word, sentences, stem, terms, tokens, words};

/// Share of a sentence's terms that must be in its citations.
const SHARE_MIN: f32 = 0.6;

/// Returns whether `cited`, names and texts of passages, supports a sentence that answers `question`: every number of
/// it is there, every name is there or in the question, and so are most of its other words.
#[must_use]
pub fn is_supported(sentence: &str, question: &str, cited: &[&str]) -> bool {
    let there: BTreeSet<String> = cited.iter().flat_map(|text| tokens(text)).collect();
    let asked: BTreeSet<String> = tokens(question).into_iter().collect();
    let is_number = |word: &str| word.starts_with(|it: char| it.is_numeric());
    for (position, word) in words(sentence).iter().enumerate() {
        let is_name = position > 0 && word.is_capitalized();
        for token in tokens(word.text) {
            if !there.contains(&token) && (is_number(&token) || is_name && !asked.contains(&token)) {
                return false;
            }
        }
    }
    let own = terms(sentence);
    let there: BTreeSet<String> = there.iter().map(|word| stem(word)).collect();
    let asked: BTreeSet<String> = asked.iter().map(|word| stem(word)).collect();
    let borne_out = own.iter().filter(|term| there.contains(*term)).count();
    let known = own.iter().filter(|term| there.contains(*term) || asked.contains(*term)).count();
    // A sentence that only says the question again is supported by nothing.
    borne_out > 0 && known as f32 >= SHARE_MIN * own.len() as f32
}

/// Returns whether `texts` have every name and every number of a short answer.
pub(super) fn is_in_texts(short: &str, texts: &[&str]) -> bool {
    const VERDICTS: [&str; 2] = ["yes", "no"];
    let there: BTreeSet<String> = texts.iter().flat_map(|text| tokens(text)).collect();
    let names = words(short).into_iter().filter(Word::is_name_like);
    let mut tokens = names.flat_map(|word| tokens(word.text));
    tokens.all(|token| there.contains(&token) || VERDICTS.contains(&token.as_str()))
}

/// Returns the sentence of `text` that shares most terms with `sentence`: the first of equals; none if there are only
/// headings.
#[must_use]
pub fn best_sentence(text: &str, sentence: &str) -> Option<Range<usize>> {
    let wanted: BTreeSet<String> = terms(sentence).into_iter().collect();
    let shared = |range: &Range<usize>| {
        let own: BTreeSet<String> = terms(text.get(range.clone()).unwrap_or_default()).into_iter().collect();
        own.intersection(&wanted).count()
    };
    let is_heading = |range: &Range<usize>| text.get(range.clone()).is_some_and(|it| it.starts_with('#'));
    let ranges = sentences(text).filter(|range| !is_heading(range));
    let mut best: Option<(usize, Range<usize>)> = None;
    for range in ranges {
        let count = shared(&range);
        if best.as_ref().is_none_or(|(most, _)| count > *most) {
            best = Some((count, range));
        }
    }
    best.map(|(_, range)| range)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILL: &str = "Harl Mill was built by Ada Lorne in 1841. It burned down twice.";

    #[test]
    fn names_numbers_and_most_words_must_be_in_what_is_cited() {
        let question = "Who built the mill of Harl, and where was she born?";
        for (sentence, expect) in [
            ("Ada Lorne built Harl Mill.", true),
            ("Ada Lorne.", true),
            ("In 1841, Ada Lorne built it.", true),
            ("Harl Mill burned down twice.", true),
            ("Ada Lorne built it in 1842.", false),
            ("It was built by Bertha Lorne.", false),
            ("It collapsed during heavy autumn storms.", false),
            ("She was born.", false),
            ("Yes.", false),
            ("", false),
        ] {
            assert_eq!(is_supported(sentence, question, &["Mill", MILL]), expect, "{sentence}");
        }
    }

    #[test]
    fn a_short_answer_names_nothing_that_is_not_said() {
        for (short, expect) in [
            ("Ada Lorne", true),
            ("1841", true),
            ("Yes", true),
            ("no", true),
            ("an engineer", true),
            ("Ada Quill", false),
            ("1842", false),
        ] {
            assert_eq!(is_in_texts(short, &["Mill", MILL]), expect, "{short}");
        }
    }

    #[test]
    fn the_sentence_that_says_it_is_quoted_and_no_heading() {
        let text = "# Harl Mill burned\n\nHarl Mill was built in 1841. It burned down twice.";
        let quoted = |sentence: &str| best_sentence(text, sentence).map(|range| &text[range]);
        assert_eq!(quoted("The mill burned down."), Some("It burned down twice."));
        assert_eq!(quoted("Something else."), Some("Harl Mill was built in 1841."));
        assert_eq!(best_sentence("# Only a heading", "A heading."), None);
    }
}
