//! Word lists and stems.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::{FxHashMap, FxHashSet};

/// Characters of a stem that a cue keeps: enough to tell words apart, few enough that `born` and `birth` stay two and
/// `direct` and `director` are one.
pub(super) const CUE_CHARS: usize = 5;

/// Beginnings of words that the stemmer would run together with `universe`, `intern`, `organ` and `even`, and their
/// stems: they are too frequent, and too far from each other, for that.
const OWN_STEMS: &[(&str, &str)] = &[
    ("universit", "universiti"),
    ("universal", "universal"),
    ("internation", "internat"),
    ("internal", "internal"),
    ("organism", "organism"),
    ("organic", "organic"),
    ("organiz", "organiz"),
    ("organis", "organis"),
    ("evening", "evening"),
];

static STOP_WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| word_set(include_str!("stop_words.txt")));
static LINKING_WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| word_set(include_str!("linking_words.txt")));
static RELATIONS: LazyLock<FxHashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut relations: FxHashMap<String, Vec<String>> = FxHashMap::default();
    for (word, others) in lines(include_str!("relations.txt")).filter_map(|line| line.split_once(':')) {
        let word = stem(word.trim());
        let others = others.split_whitespace().map(stem).filter(|other| *other != word);
        let mut others: Vec<String> = others.collect();
        let known = relations.entry(word).or_default();
        others.retain(|other| !known.contains(other));
        known.append(&mut others);
    }
    relations
});

fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().filter(|line| !line.starts_with('#'))
}

fn word_set(file: &'static str) -> FxHashSet<&'static str> {
    lines(file).flat_map(str::split_whitespace).collect()
}

/// The months, folded, in order.
pub(crate) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The days of a week, folded.
pub(crate) const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Returns whether a folded word says too little to search by.
#[must_use]
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word)
}

/// Returns whether a folded word may stand in lower case inside a name: the `of` of `Margrave of Tuscany`.
#[must_use]
pub(crate) fn is_linking_word(word: &str) -> bool {
    LINKING_WORDS.contains(word)
}

/// Returns the stems that a passage may use where a question uses `stem`; mostly none.
#[must_use]
pub(crate) fn related(stem: &str) -> &'static [String] {
    RELATIONS.get(stem).map_or(&[], Vec::as_slice)
}

/// Words whose stems a thread remembers: texts consist of few words, again and again.
const STEMS_MAX: usize = 1 << 16;
/// Bytes of a word at most whose stem is remembered.
const STEMMED_BYTES_MAX: usize = 32;

thread_local! {
    static STEMS: RefCell<FxHashMap<Box<str>, Rc<str>>> = RefCell::default();
}

/// Returns the English stem of a folded word.
#[must_use]
pub(crate) fn stem(word: &str) -> String {
    shared_stem(word).as_ref().to_owned()
}

/// As [`stem`], without a copy of one that is remembered.
#[must_use]
pub(super) fn shared_stem(word: &str) -> Rc<str> {
    if word.len() > STEMMED_BYTES_MAX {
        return stem_anew(word).into();
    }
    STEMS.with_borrow_mut(|stems| {
        if let Some(stem) = stems.get(word) {
            return Rc::clone(stem);
        }
        let stem: Rc<str> = stem_anew(word).into();
        if stems.len() >= STEMS_MAX {
            stems.clear();
        }
        stems.insert(word.into(), Rc::clone(&stem));
        stem
    })
}

fn stem_anew(word: &str) -> String {
    if let Some((_, stem)) = OWN_STEMS.iter().find(|(beginning, _)| word.starts_with(beginning)) {
        return (*stem).to_owned();
    }
    // A stemmer is no more than a function pointer: there is nothing to keep.
    Stemmer::create(Algorithm::English).stem(word).into_owned()
}

/// Returns the beginning of a folded word's stem, by which words around a mention are compared.
#[must_use]
pub(crate) fn cue(word: &str) -> String {
    cue_of_stem(stem(word))
}

/// Returns the beginning of a stem.
#[must_use]
pub(crate) fn cue_of_stem(mut stem: String) -> String {
    if let Some((end, _)) = stem.char_indices().nth(CUE_CHARS) {
        stem.truncate(end);
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_words_that_only_look_alike_keep_stems_of_their_own() {
        assert_eq!(["universities", "universe"].map(stem), ["universiti", "univers"]);
        assert_eq!(["internationally", "interned"].map(stem), ["internat", "intern"]);
        assert_eq!(["organization", "organs"].map(stem), ["organiz", "organ"]);
    }

    #[test]
    fn a_stem_that_is_remembered_is_the_one_that_was_made() {
        let words: Vec<String> = (0..STEMS_MAX + 10).map(|number| format!("walkings{number}")).collect();
        for word in words.iter().chain(&words[..100]) {
            assert_eq!(stem(word), stem_anew(word));
        }
        assert!(STEMS.with_borrow(|stems| stems.len() <= STEMS_MAX));
        assert_eq!(["walking", "walking"].map(stem), ["walk", "walk"]);
        let long = "a".repeat(STEMMED_BYTES_MAX + 1);
        assert_eq!(stem(&long), long);
        assert!(STEMS.with_borrow(|stems| !stems.contains_key(long.as_str())));
    }

    #[test]
    fn a_cue_is_the_beginning_of_a_stem() {
        assert_eq!(cue("directed"), "direc");
        assert_eq!(cue("director"), "direc");
        assert_eq!(cue("éàüöß1"), "éàüöß");
        assert_eq!(cue("son"), "son");
    }

    #[test]
    fn word_lists_hold_words_and_no_comments() {
        assert!(is_stop_word("the") && !is_stop_word("#") && !is_stop_word("search"));
        assert!(is_linking_word("von") && !is_linking_word("lower"));
        assert_eq!(related("mother"), ["daughter", "son", "born"]);
        assert_eq!(related(&stem("directed")), ["director", "filmmak"]);
        assert!(related("Words").is_empty() && related("#").is_empty());
    }
}
