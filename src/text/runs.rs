//! Capitalized runs: names by their form alone, without a list of names.

use super::lexicon::{is_linking_word, is_stop_word};
use super::words::{FoldedWords, Word};

/// A run of capitalized words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Its folded words, joined by one space, without words that only open a sentence.
    pub key: String,
}

/// Linking words that rather join two names than stand inside one.
const JOINING: &[&str] = &["and", "in", "at", "to", "for", "on", "a", "an"];
/// What German calls the reader by, with a capital in any place.
const POLITE_PRONOUNS: &[&str] = &["Sie", "Ihnen", "Ihr", "Ihre", "Ihrem", "Ihren", "Ihrer", "Ihres"];
/// Short forms before which a full stop does not end a run, beside words of one or two letters.
const TITLES: &[&str] = &["Jr", "Sr", "St", "Dr", "Mr", "Mrs"];
/// Bytes of a line at least that continues in the next.
const WRAPPED_BYTES_MIN: usize = 45;
/// Characters of a name of one word at least.
const SINGLE_CHARS_MIN: usize = 3;

/// Returns the runs of capitalized words of `text`, in order; linking words and digits may stand inside.
///
/// A name of one word is left out where `is_common` says that its folded form is a common word, and so are several such
/// words in capitals throughout: `SEE ALSO`.
#[must_use]
pub(crate) fn capitalized_runs(text: &str, is_common: &dyn Fn(&str) -> bool) -> Vec<Run> {
    runs_of(text, &FoldedWords::of(text), is_common)
}

/// As [`capitalized_runs`], of a text with these words.
fn runs_of(text: &str, folded: &FoldedWords<'_>, is_common: &dyn Fn(&str) -> bool) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut index = 0;
    while let Some(word) = folded.words.get(index) {
        if !may_name(word) {
            index += 1;
            continue;
        }
        let last = run_end(text, &folded.words, index);
        runs.extend(named_run(folded, index, last, is_common));
        index = last + 1;
    }
    runs
}

/// Returns the runs of a text with these words that stand in prose: markup and code capitalize for reasons of their
/// own.
#[must_use]
pub(crate) fn prose_runs(text: &str, folded: &FoldedWords<'_>, is_common: &dyn Fn(&str) -> bool) -> Vec<Run> {
    let mut runs = runs_of(text, folded, is_common);
    let mut fenced = false;
    let (mut at, mut rest) = (0, runs.as_slice());
    let mut kept = Vec::with_capacity(runs.len());
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let trimmed = line.trim_start();
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        fenced ^= is_fence;
        let is_markup = fenced || is_fence || [".. ", ":", "@", "$ ", ">>>"].iter().any(|it| trimmed.starts_with(it));
        let own = rest.partition_point(|run| run.start < end);
        let (on_line, after) = rest.split_at(own);
        kept.extend(on_line.iter().map(|run| !is_markup && is_prose(text, line, at, run)));
        (at, rest) = (end, after);
    }
    let mut kept = kept.into_iter();
    runs.retain(|_| kept.next().unwrap_or(true));
    runs
}

/// Returns whether a run on the line at `at` is neither quoted as code nor glued to signs that names do not have.
fn is_prose(text: &str, line: &str, at: usize, run: &Run) -> bool {
    let before = line.get(..run.start - at).unwrap_or_default();
    let is_quoted = before.matches('`').count() % 2 == 1;
    let follows = text.get(run.end..).unwrap_or_default();
    let is_glued = before.ends_with(['_', '/', '<', '=', '$', '@', '\\', '{', '.', '%'])
        || follows.starts_with(['_', '/', '=', '(', '<', '\\', '}', '%'])
        || follows.starts_with("::");
    !is_quoted && !is_glued
}

/// Returns whether a word may be one of a name.
fn may_name(word: &Word<'_>) -> bool {
    word.is_capitalized() && !POLITE_PRONOUNS.contains(&word.text)
}

/// Returns the last word of the run that begins with word `first`.
fn run_end(text: &str, words: &[Word<'_>], first: usize) -> usize {
    let mut last = first;
    for (index, pair) in words.windows(2).enumerate().skip(first) {
        let [before, word] = pair else { break };
        let gap = text.get(before.end..word.start).unwrap_or_default();
        if !is_joining_gap(gap, before.text) || ends_short_line(text, before.end, gap) {
            break;
        }
        let index = index + 1;
        let is_digit = word.text.starts_with(char::is_numeric) && gap.trim().is_empty();
        let is_linking =
            index - last <= 2 && !JOINING.contains(&word.text) && is_linking_word(&word.text.to_lowercase());
        if may_name(word) || is_digit {
            last = index;
        } else if !is_linking {
            // A genitive ends a run: `Canada's Parliament` is two names.
            break;
        }
    }
    last
}

/// Returns whether a line ends in the gap at `at` that no margin has broken: names on such lines are items of a list.
fn ends_short_line(text: &str, at: usize, gap: &str) -> bool {
    let before = text.get(..at).unwrap_or_default();
    gap.contains('\n') && at - before.rfind('\n').map_or(0, |line_break| line_break + 1) < WRAPPED_BYTES_MIN
}

/// Returns whether two words with `gap` between may be of one name.
fn is_joining_gap(gap: &str, before: &str) -> bool {
    let is_short_form = before.chars().count() <= 2 || TITLES.contains(&before);
    if let Some(rest) = gap.strip_prefix('.').filter(|_| is_short_form) {
        return rest.chars().count() <= 1 && rest.trim().is_empty();
    }
    let marks = gap.trim();
    let is_blank_line = gap.matches('\n').count() > 1;
    !is_blank_line && (marks.is_empty() || matches!(marks, "-" | "'" | "’" | "&"))
}

/// Returns whether a word is written in capitals throughout: common words are so in headings and for stress.
fn is_shouted(word: &Word<'_>) -> bool {
    word.text.chars().all(char::is_uppercase)
}

/// Returns the run of words `first..=last` without the words that only open a sentence, if a name is left.
fn named_run(folded: &FoldedWords<'_>, first: usize, last: usize, is_common: &dyn Fn(&str) -> bool) -> Option<Run> {
    let mut first = first;
    while first <= last && is_stop_word(folded.word(first)) && folded.word(first) != "the" {
        first += 1;
    }
    if first < last && folded.word(first) == "the" {
        first += 1;
    }
    let key = folded.key(first..last + 1);
    let is_single = first == last;
    let is_none = if is_single {
        key.chars().count() < SINGLE_CHARS_MIN || is_stop_word(key) || is_common(key)
    } else {
        (first..=last).all(|at| is_shouted(&folded.words[at]) && is_common(folded.word(at)))
    };
    if key.is_empty() || is_none {
        return None;
    }
    let (start, end) = (folded.words.get(first)?.start, folded.words.get(last)?.end);
    Some(Run { start, end, key: key.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_of_markup_and_code_make_no_names() {
        let keys = |text: &str| {
            let runs = prose_runs(text, &FoldedWords::of(text), &|_| false);
            runs.into_iter().map(|run| run.key).collect::<Vec<_>>()
        };
        assert_eq!(
            keys("Ask Edda Varnholt\n.. SPDX-License-Identifier: GPL\n:Author: Someone Else"),
            ["ask edda varnholt"]
        );
        assert_eq!(keys("```\nPopen Arguments\n```\nthen `Popen Object` of Guido"), ["guido"]);
        assert_eq!(keys("call Popen() or Error::Io or IO_Base for Ada Lorne"), ["ada lorne"]);
    }

    fn check(text: &str, expect: &[&str]) {
        let runs = capitalized_runs(text, &|word| word == "abbot");
        assert_eq!(runs.iter().map(|run| run.key.as_str()).collect::<Vec<_>>(), expect, "{text}");
        assert!(runs.iter().all(|run| text.get(run.start..run.end).is_some()));
    }

    #[test]
    fn runs_are_capitalized_words_with_linking_words_between() {
        check(
            "She was a daughter of Bosonid Boso the Elder and sister of Hucbert.",
            &["bosonid boso the elder", "hucbert"],
        );
        check("In the St. Maurice's Abbey of J. K. Rowling", &["st maurice", "abbey of j k rowling"]);
        check("The Abbot met The Beatles on 4 June 1990.", &["beatles", "june 1990"]);
        check("It ended. Abbot Čapek-Ødegård & Sons", &["abbot capek ødegard sons"]);
        check("Rome.\n\nParis", &["rome", "paris"]);
        check("Rome\n\nParis is", &["rome", "paris"]);
        check("Ann Lee\nBob Ray\nplays", &["ann lee", "bob ray"]);
        check("a line that was long enough to be broken before Ann\nLee", &["ann lee"]);
        check("no names here", &[]);
        check("the ABBOT ABBOT, the ABBOT ADA", &["abbot ada"]);
        check(
            "Wenn Sie Debian Policy lesen, hilft Ihnen Ada. Sie und Ihre Ada",
            &["wenn", "debian policy", "ada", "ada"],
        );
    }
}
