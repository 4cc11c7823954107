//! Known names in a text: longest first, and capitalized as names are.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::escape::one_line;
use super::lexicon::{is_linking_word, is_stop_word};
use super::segments::is_unspaced;
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
    visit_names(&FoldedWords::of(text), rule, lookup, &mut |_| ())
}

/// Returns a name as `text` writes it first, by its folded words joined by one space, with the bracket that closes what
/// it opens: "Foo (band)". It is on one line and without marks of code.
#[must_use]
pub(crate) fn as_written(text: &str, name: &str) -> Option<String> {
    let Range { start, end } = if text.is_ascii() { first_in_ascii(text, name) } else { first_in(text, name) }?;
    let closed = BRACKETS.into_iter().find(|(open, close)| {
        let count = |bracket| text.get(start..end).unwrap_or_default().matches(bracket).count();
        count(*open) > count(*close) && text.get(end..).is_some_and(|rest| rest.starts_with(*close))
    });
    let written = text.get(start..end + closed.map_or(0, |(_, close)| close.len_utf8()))?;
    Some(one_line(&written.replace('`', "")))
}

/// Returns where `text` has a name first.
fn first_in(text: &str, name: &str) -> Option<Range<usize>> {
    let folded = FoldedWords::of(text);
    let count = name.split(' ').count();
    let starts = 0..(folded.words.len() + 1).saturating_sub(count);
    let (first, last) = starts.map(|it| (it, it + count)).find(|(start, end)| folded.key(*start..*end) == name)?;
    Some(folded.words.get(first)?.start..folded.words.get(last - 1)?.end)
}

/// As [`first_in`], for a text of ASCII: its words are folded as they are compared.
fn first_in_ascii(text: &str, name: &str) -> Option<Range<usize>> {
    let (bytes, name) = (text.as_bytes(), name.as_bytes());
    let is_of_word = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let first = *name.first().filter(|first| first.is_ascii_alphanumeric())?;
    let begins = |at: &usize| bytes[*at].to_ascii_lowercase() == first && !at.checked_sub(1).is_some_and(is_of_word);
    (0..bytes.len()).filter(begins).find_map(|start| {
        let mut at = start;
        for byte in name {
            if *byte == b' ' {
                // Whatever parts two words.
                let end = at;
                while at < bytes.len() && !is_of_word(at) {
                    at += 1;
                }
                (at > end).then_some(())?;
            } else {
                bytes.get(at).filter(|it| it.to_ascii_lowercase() == *byte && it.is_ascii_alphanumeric())?;
                at += 1;
            }
        }
        (!is_of_word(at) && is_of_word(at - 1)).then_some(start..at)
    })
}

/// Brackets that a name may end with.
const BRACKETS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('（', '）')];

/// A text in which names are looked for, one after the other.
pub(crate) struct Places<'a> {
    text: &'a str,
    folded: FoldedWords<'a>,
}

impl<'a> Places<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, folded: FoldedWords::of(text) }
    }

    /// Returns the first `most` places where the text has a name, which is given by its folded words joined by one
    /// space: as whole words, or, where none are and its script has no spaces between words, by the letters of
    /// `written`.
    pub(crate) fn of_name(&self, name: &str, written: &str, most: usize) -> Vec<Range<usize>> {
        if name.is_empty() {
            return Vec::new();
        }
        let (count, words) = (name.split(' ').count(), &self.folded.words);
        let starts = 0..(words.len() + 1).saturating_sub(count);
        let runs = starts.map(|it| it..it + count).filter(|run| self.folded.key(run.clone()) == name);
        let whole = runs.filter_map(|run| Some(words.get(run.start)?.start..words.get(run.end - 1)?.end));
        let whole: Vec<Range<usize>> = whole.take(most).collect();
        if !whole.is_empty() || !written.contains(is_unspaced) {
            return whole;
        }
        self.text.match_indices(written).map(|(at, it)| at..at + it.len()).take(most).collect()
    }
}

/// Returns where `text` has some of `names`, each as its place in `names` and its bytes, in order: the longest at each
/// place, without overlap. `names` are folded words joined by one space.
#[must_use]
pub(crate) fn standing_names(text: &str, names: &[&str]) -> Vec<(usize, Range<usize>)> {
    let folded = FoldedWords::of(text);
    let mut by_first: FxHashMap<&str, Vec<(usize, usize)>> = FxHashMap::default();
    for (at, name) in names.iter().enumerate() {
        let mut words = name.split(' ');
        by_first.entry(words.next().unwrap_or_default()).or_default().push((at, 1 + words.count()));
    }
    let (mut found, mut index) = (Vec::new(), 0);
    while index < folded.words.len() {
        let begun = by_first.get(folded.word(index)).map_or(&[][..], Vec::as_slice);
        let here = begun.iter().filter(|(at, count)| folded.key(index..index + count) == names[*at]);
        let Some((at, count)) = here.max_by_key(|(_, count)| *count).copied() else {
            index += 1;
            continue;
        };
        let last = index + count - 1;
        if let (Some(first), Some(last)) = (folded.words.get(index), folded.words.get(last)) {
            found.push((at, first.start..last.end));
        }
        index = last + 1;
    }
    found
}

/// Returns every run of up to `words_max` words of a text, folded and joined by one space, as names are.
#[must_use]
pub(crate) fn folded_names(text: &str, words_max: usize) -> Vec<String> {
    let folded = FoldedWords::of(text);
    let count = folded.words.len();
    let runs = (0..count).flat_map(|start| (start + 1..=count.min(start + words_max)).map(move |end| start..end));
    runs.map(|run| folded.key(run).to_owned()).collect()
}

/// As [`find_names`]; calls `refused` with the words of names that are not capitalized as names are.
pub(crate) fn visit_names(
    folded: &FoldedWords<'_>,
    rule: NameRule,
    lookup: &NameLookup<'_>,
    refused: &mut dyn FnMut(&str),
) -> Vec<NameMatch> {
    let mut matches = Vec::new();
    let mut index = 0;
    while index < folded.words.len() {
        let longest = (lookup.longest)(folded.word(index)).min(folded.words.len() - index);
        let mut named = |count| name_at(folded, index..index + count, rule, lookup, refused);
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
    use proptest::prelude::*;

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
    fn a_name_is_written_with_the_bracket_that_closes_what_it_opens() {
        for (text, name, expect) in [
            ("They saw Foo (band) in May.", "foo band", Some("Foo (band)")),
            ("They saw (the) Foo, (a band) there.", "foo", Some("Foo")),
            ("They (Foo) played.", "foo", Some("Foo")),
            ("水磨（东城）", "水磨 东城", Some("水磨（东城）")),
            ("Foo (band", "foo band", Some("Foo (band")),
            ("Foo (the band)", "foo band", None),
            ("the Foo\n    Band", "foo band", Some("Foo Band")),
            ("`foo` --- Bands", "foo bands", Some("foo --- Bands")),
        ] {
            assert_eq!(as_written(text, name).as_deref(), expect, "{text}");
        }
    }

    proptest! {
        /// Of few letters, so that many names are there.
        #[test]
        fn a_name_is_found_in_ascii_where_it_is_found_in_any_text(
            text in "([abA1] ?|[-.(]){0,12}",
            name in "[ab1]{1,2}( [abA1]{0,2}){0,2}|[ -]?",
        ) {
            prop_assert_eq!(first_in_ascii(&text, &name), first_in(&text, &name));
        }
    }

    #[test]
    fn a_name_is_found_as_whole_words_or_by_its_letters_where_words_have_no_spaces() {
        let places = |text: &str, written: &str| {
            let key = super::super::words::tokens(written).join(" ");
            let found = Places::of(text).of_name(&key, written, 2);
            found.into_iter().map(|it| text[it].to_owned()).collect::<Vec<String>>()
        };
        assert_eq!(places("Ada LORNE, née Reed; Ada Lorne.", "Ada Lorne"), ["Ada LORNE", "Ada Lorne"]);
        assert_eq!(places("ada ada ada", "Ada"), ["ada", "ada"]);
        assert_eq!(places("艾达于1801年在东城建造了水磨。", "东城"), ["东城"]);
        for (text, name) in [("Adalbert", "Ada"), ("", "Ada"), ("Ada", ""), ("Ada", "Ada Lorne"), ("水磨", "东城")]
        {
            assert_eq!(places(text, name), [""; 0], "{name}");
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
    fn each_place_of_some_names_is_found_once_with_the_longest() {
        let names = ["lund", "ada lund", "pale hill"];
        let text = "Ada Lund of Pale Hill; Lund, Ada.";
        let found = standing_names(text, &names);
        let found: Vec<(usize, &str)> = found.into_iter().map(|(at, span)| (at, &text[span])).collect();
        assert_eq!(found, [(1, "Ada Lund"), (2, "Pale Hill"), (0, "Lund")]);
        assert_eq!(standing_names("", &names), []);
    }

    #[test]
    fn names_that_are_not_capitalized_are_reported() {
        let none = |_: &str| false;
        let contains = |key: &str| NAMES.contains(&key);
        let lookup = NameLookup { longest: &|_| 3, contains: &contains, single: &none, lower: &none };
        let mut refused = Vec::new();
        let found = visit_names(&FoldedWords::of("The kid and Boso The Elder"), NameRule::Text, &lookup, &mut |key| {
            refused.push(key.to_owned());
        });
        assert_eq!((found.len(), refused), (1, vec!["the kid".to_owned()]));
    }
}
