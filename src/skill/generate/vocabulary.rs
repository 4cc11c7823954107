//! Word lists that distinguish persons from other entities, and names from words that only look like names.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

use crate::text::{MONTHS, is_stop_word};

static DEMONYMS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| word_set(include_str!("demonyms.txt")));
static PERSON_WORDS: LazyLock<FxHashSet<&'static str>> = LazyLock::new(|| word_set(include_str!("person_words.txt")));
static IMPERSONAL_WORDS: LazyLock<FxHashSet<&'static str>> =
    LazyLock::new(|| word_set(include_str!("impersonal_words.txt")));

const WEEKDAYS: &[&str] = &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Words that no cue reaches across: what follows them has another role.
const BARRIERS: &[&str] = &[
    "of", "in", "at", "on", "by", "from", "with", "for", "who", "which", "that", "whose", "is", "was", "are", "were",
    "has", "had", "until", "when", "while", "as", "to", "into", "after", "before", "during", "where", "between",
];

/// Long words that say nothing, beside stop words.
const UNTELLING: &[&str] = &[
    "according",
    "after",
    "again",
    "against",
    "almost",
    "along",
    "although",
    "always",
    "among",
    "another",
    "anything",
    "around",
    "because",
    "before",
    "being",
    "between",
    "cannot",
    "despite",
    "during",
    "either",
    "every",
    "everything",
    "herself",
    "himself",
    "however",
    "including",
    "itself",
    "later",
    "many",
    "more",
    "most",
    "much",
    "must",
    "neither",
    "never",
    "nothing",
    "often",
    "only",
    "others",
    "over",
    "perhaps",
    "rather",
    "several",
    "shall",
    "should",
    "since",
    "some",
    "something",
    "sometimes",
    "still",
    "themselves",
    "therefore",
    "though",
    "through",
    "together",
    "under",
    "until",
    "upon",
    "very",
    "well",
    "whether",
    "while",
    "within",
    "without",
    "your",
];

fn word_set(file: &'static str) -> FxHashSet<&'static str> {
    file.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
}

/// Returns whether a folded word says where something belongs, such as `french`.
pub(super) fn is_demonym(word: &str) -> bool {
    DEMONYMS.contains(word)
}

/// Returns whether a folded word says what a person is, such as `singer`; of some trades the ending tells.
pub(super) fn is_person_word(word: &str) -> bool {
    PERSON_WORDS.contains(word)
        || (word.len() > 6 && ["ologist", "ician", "woman"].iter().any(|end| word.ends_with(end)))
}

/// Returns whether a folded word says what a thing is, such as `film`.
pub(super) fn is_impersonal_word(word: &str) -> bool {
    IMPERSONAL_WORDS.contains(word)
}

/// Returns whether a folded word is part of a date: a month, a weekday or a number.
pub(super) fn is_date_word(word: &str) -> bool {
    let number = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    is_month(word) || WEEKDAYS.contains(&word) || number.chars().all(char::is_numeric)
}

/// Returns whether a folded word is a month.
pub(super) fn is_month(word: &str) -> bool {
    MONTHS.contains(&word)
}

/// Returns whether a folded word may be a year: people of the Middle Ages have three digits.
pub(super) fn is_year(word: &str) -> bool {
    (3..=4).contains(&word.len()) && word.bytes().all(|it| it.is_ascii_digit())
}

/// Returns whether what follows a folded word has another role than what stands before it.
pub(super) fn is_barrier(word: &str) -> bool {
    BARRIERS.contains(&word)
}

/// Characters of a word that a question names at most.
const WORD_CHARS_MAX: usize = 100;

/// Returns whether a folded word says something: neither a stop word nor one of the long ones that do not.
pub(super) fn is_telling(word: &str) -> bool {
    let has_length = (word.chars().count() >= 4 || !word.is_ascii()) && word.chars().nth(WORD_CHARS_MAX).is_none();
    has_length && !word.contains(char::is_numeric) && !is_stop_word(word) && !UNTELLING.contains(&word)
}
