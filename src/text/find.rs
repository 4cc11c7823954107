//! Known names in a text: longest first, and capitalized as names are.

use std::ops::Range;

use super::lexicon::{is_linking_word, is_stop_word};
use super::words::{FoldedWords, Word};

/// How strictly a name must be capitalized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// In a text: every word but linking words.
    Text,
    /// In a question, which people write more loosely: half of the words.
    Question,
}

/// What is known of names, all by folded words.
#[derive(Clone, Copy)]
pub(crate) struct NameLookup<'a> {
    /// The most words of a name that begins with this word; 0 where none does.
    pub longest: &'a dyn Fn(&str) -> usize,
    /// Whether these words, joined by one space, are a name.
    pub contains: &'a dyn Fn(&str) -> bool,
    /// Whether a name of this one word counts: it is no common word.
    pub single: &'a dyn Fn(&str) -> bool,
    /// Whether a name of several words counts where too few of them are capitalized.
    pub lower: &'a dyn Fn(&str) -> bool,
}

/// A known name where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NameMatch {
    /// Its words, as indices into [`super::words()`] of the text.
    pub words: Range<usize>,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Its folded words, joined by one space.
    pub key: String,
}

/// Returns the known names in `text`, in order, without overlap, the longest at each place.
#[must_use]
pub(crate) fn find_names(text: &str, rule: NameRule, lookup: &NameLookup<'_>) -> Vec<NameMatch> {
    visit_names(text, rule, lookup, &mut |_| ())
}

/// Returns a name as `text` writes it first, by its folded words joined by one space.
#[must_use]
pub(crate) fn as_written<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let folded = FoldedWords::of(text);
    let count = name.split(' ').count();
    let starts = 0..(folded.words.len() + 1).saturating_sub(count);
    let (first, last) = starts.map(|it| (it, it + count)).find(|(start, end)| folded.key(*start..*end) == name)?;
    text.get(folded.words.get(first)?.start..folded.words.get(last - 1)?.end)
}

/// As [`find_names`]; calls `refused` with the words of names that are not capitalized as names are.
pub(crate) fn visit_names(
    text: &str,
    rule: NameRule,
    lookup: &NameLookup<'_>,
    refused: &mut dyn FnMut(&str),
) -> Vec<NameMatch> {
    let folded = FoldedWords::of(text);
    let mut matches = Vec::new();
    let mut index = 0;
    while index < folded.words.len() {
        let longest = (lookup.longest)(folded.word(index)).min(folded.words.len() - index);
        let mut named = |count| name_at(&folded, index..index + count, rule, lookup, refused);
        let found = (1..=longest).rev().find_map(&mut named);
        index = found.as_ref().map_or(index + 1, |it| it.words.end);
        matches.extend(found);
    }
    matches
}

fn name_at(
    folded: &FoldedWords<'_>,
    range: Range<usize>,
    rule: NameRule,
    lookup: &NameLookup<'_>,
    refused: &mut dyn FnMut(&str),
) -> Option<NameMatch> {
    let key = folded.key(range.clone());
    let words = folded.words.get(range.clone())?;
    let (first, last) = (words.first()?, words.last()?);
    if !(lookup.contains)(key) {
        return None;
    }
    let is_name = match words {
        [only] => only.is_capitalized() && (lookup.single)(key),
        _ => is_capitalized(folded, range.clone(), rule) || (lookup.lower)(key),
    };
    if !is_name {
        refused(key);
    }
    is_name.then(|| NameMatch { words: range, start: first.start, end: last.end, key: key.to_owned() })
}

/// Returns whether enough of the words that carry the name begin as words of names do.
fn is_capitalized(folded: &FoldedWords<'_>, range: Range<usize>, rule: NameRule) -> bool {
    let is_content = |index: &usize| !is_linking_word(folded.word(*index)) && !is_stop_word(folded.word(*index));
    let mut content: Vec<usize> = range.clone().filter(is_content).collect();
    if content.is_empty() {
        content = range.collect();
    }
    let count = content.iter().filter_map(|index| folded.words.get(*index)).filter(|it| Word::is_name_like(it)).count();
    match rule {
        NameRule::Text => count == content.len(),
        NameRule::Question => 2 * count >= content.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&str] = &["boso", "boso the elder", "the kid", "march", "who is it"];

    fn check(text: &str, rule: NameRule, expect: &[&str]) {
        let lookup = NameLookup {
            longest: &|word| {
                let names = NAMES.iter().filter(|name| name.split(' ').next() == Some(word));
                names.map(|name| name.split(' ').count()).max().unwrap_or(0)
            },
            contains: &|key| NAMES.contains(&key),
            single: &|word| word != "march",
            lower: &|key| key == "boso the elder" && rule == NameRule::Question,
        };
        let matches = find_names(text, rule, &lookup);
        assert_eq!(matches.iter().map(|it| &text[it.start..it.end]).collect::<Vec<_>>(), expect, "{text}");
        let words = super::super::words(text);
        for it in &matches {
            assert_eq!((words[it.words.start].start, words[it.words.end - 1].end), (it.start, it.end));
        }
    }

    #[test]
    fn the_longest_name_is_found_where_it_is_capitalized() {
        check("Boso the Elder, Bôso and boso.", NameRule::Text, &["Boso the Elder", "Bôso"]);
        check("Boso the elder", NameRule::Text, &["Boso"]);
        check("Boso the elder", NameRule::Question, &["Boso the elder"]);
        check("the Kid in March", NameRule::Text, &["the Kid"]);
        check("the kid; who is it", NameRule::Question, &[]);
        check("is boso the elder dead", NameRule::Question, &["boso the elder"]);
        check("WHO is It", NameRule::Question, &["WHO is It"]);
        check("", NameRule::Text, &[]);
    }

    #[test]
    fn names_that_are_not_capitalized_are_told_of() {
        let none = |_: &str| false;
        let contains = |key: &str| NAMES.contains(&key);
        let lookup = NameLookup { longest: &|_| 3, contains: &contains, single: &none, lower: &none };
        let mut refused = Vec::new();
        let found = visit_names("The kid and Boso The Elder", NameRule::Text, &lookup, &mut |key| {
            refused.push(key.to_owned());
        });
        assert_eq!((found.len(), refused), (1, vec!["the kid".to_owned()]));
    }
}
