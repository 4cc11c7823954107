//! The subject of a passage: the name that its questions carry.

use super::reading::{Sentence, one_line};
use super::vocabulary::{is_impersonal_word, is_person_word, is_year};
use crate::domain::Document;
use crate::text::{
    NameKind, after_headings, bearer_names, is_linking_word, is_stop_word, lead_name, sentences, strip_parenthesis,
    tokens, words,
};

/// Bytes at the beginning of a document that say what it is about.
const OPENING_BYTES: usize = 2000;
/// Characters of a title that a question can carry at most.
const DISPLAY_CHARS_MAX: usize = 100;
/// Words between a verb and what it says of the subject at most.
const PREDICATE_WORDS_MAX: usize = 14;
/// Names in the keywords of a question at most: each more makes the others count less.
const OWN_KEYS_MAX: usize = 3;
/// Words that end the naming of a kind: what follows speaks of something else.
const KIND_ENDS: &[&str] = &[
    "of", "in", "by", "from", "who", "which", "that", "for", "with", "at", "on", "about", "whose", "where", "when",
    "directed", "written", "starring",
];

/// Whom or what a passage speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubjectKind {
    Person,
    Impersonal,
    Unknown,
}

/// What a passage is about.
pub(super) struct Subject {
    /// The name as questions write it; empty where there is none.
    pub(super) display: String,
    /// Whether `display` is a name, or else a headline.
    pub(super) is_name: bool,
    /// Whether it is the document's own, or else only what the passage mentions most.
    pub(super) is_own: bool,
    /// Its folded names, the one shown first.
    pub(super) keys: Vec<String>,
    pub(super) kind: SubjectKind,
    /// `his` or `her`, where the passage says which.
    pub(super) possessive: Option<&'static str>,
}

impl Subject {
    /// Returns the document's own name; without one the name that the passage mentions most.
    /// `opening` is that of the document's text.
    pub(super) fn of(document: &Document, opening: &str, passage: &[Sentence<'_>]) -> Self {
        let title = document.title.as_deref().map(one_line).filter(|title| !title.is_empty());
        let bare =
            title.as_deref().map(|title| Some(strip_parenthesis(title)).filter(|it| !it.is_empty()).unwrap_or(title));
        let own = bare.or_else(|| lead_name(opening));
        if let Some(own) = own {
            let is_name = is_name_like(own);
            let kind = if is_name { kind(opening, passage) } else { SubjectKind::Unknown };
            let keys =
                if is_name { own_keys(own, title.as_deref(), opening, kind) } else { vec![tokens(own).join(" ")] };
            return Self {
                display: shown(own, is_name),
                is_name,
                is_own: true,
                keys,
                kind,
                possessive: possessive(passage),
            };
        }
        let (display, keys) = most_mentioned(passage).unwrap_or_default();
        Self {
            is_name: !display.is_empty(),
            is_own: false,
            display,
            keys,
            kind: SubjectKind::Unknown,
            possessive: None,
        }
    }

    /// Returns whether a mention of `key` is one of the subject: one of its names, some words of one, or one with other
    /// words in the middle.
    pub(super) fn is_named(&self, key: &str) -> bool {
        let is_part = |own: &String| key.split(' ').all(|word| own.split(' ').any(|it| it == word));
        let is_fuller = |own: &String| ends(own).is_some() && ends(own) == ends(key);
        self.keys.iter().any(|own| own == key || (self.is_name && (is_part(own) || is_fuller(own))))
    }

    /// Returns whether a folded word is part of its name.
    pub(super) fn has_word(&self, word: &str) -> bool {
        self.keys.iter().any(|own| own.split(' ').any(|it| it == word))
    }

    /// Returns whether a sentence says something of the subject itself: it begins with it, or with what stands for it.
    pub(super) fn is_of(&self, sentence: &Sentence<'_>) -> bool {
        const PRONOUNS: &[&str] = &["he", "she", "it", "they"];
        let (first, second) = (sentence.word(0), sentence.word(1));
        let stands_for_it = PRONOUNS.contains(&first)
            || (["the", "this"].contains(&first) && (is_impersonal_word(second) || is_person_word(second)))
            || sentence.words.first().is_some_and(|word| word.text.ends_with("ed")) // Released in 1996, it was …
            || first == "born";
        (self.is_own && stands_for_it) || self.opens(sentence)
    }

    /// Returns whether a sentence begins with a name of the subject.
    pub(super) fn opens(&self, sentence: &Sentence<'_>) -> bool {
        let first = usize::from(["the", "a", "an"].contains(&sentence.word(0)));
        sentence.mention_at(first).is_some_and(|it| self.is_named(&it.key))
            || (sentence.index == 0 && self.has_word(sentence.word(first)))
    }
}

/// Returns the first and the last word of a name of several.
fn ends(key: &str) -> Option<(&str, &str)> {
    let (first, rest) = key.split_once(' ')?;
    Some((first, rest.rsplit(' ').next()?))
}

/// Returns the folded names of a document: as it is shown, then as its text opens and, of a person, before the rank.
fn own_keys(own: &str, title: Option<&str>, opening: &str, kind: SubjectKind) -> Vec<String> {
    let mut keys = vec![tokens(own).join(" ")];
    let shown = tokens(own);
    for (key, name_kind) in bearer_names(title, opening) {
        let key = key.strip_prefix("the ").unwrap_or(&key);
        let is_wanted = match name_kind {
            NameKind::Title | NameKind::BareTitle => false,
            NameKind::BeforeComma => kind == SubjectKind::Person,
            // Not every text opens with its subject: one word in common shows that this one does.
            NameKind::Lead | NameKind::Main | NameKind::First => {
                key.split(' ').any(|word| !is_stop_word(word) && shown.iter().any(|it| it == word))
            }
        };
        if is_wanted
            && keys.len() < OWN_KEYS_MAX
            && keys.iter().all(|known| known.strip_prefix("the ").unwrap_or(known) != key)
        {
            keys.push(key.to_owned());
        }
    }
    keys.retain(|key| !key.is_empty());
    keys
}

/// Returns how the passage says `of the subject`: by the pronoun that its sentences begin with.
fn possessive(passage: &[Sentence<'_>]) -> Option<&'static str> {
    passage.iter().find_map(|sentence| match sentence.word(0) {
        "he" | "his" => Some("his"),
        "she" | "her" => Some("her"),
        _ => None,
    })
}

/// Returns the beginning of a text, without the headings before it. It may have to read all of them.
pub(super) fn opening(text: &str) -> &str {
    let text = after_headings(text);
    let end = (0..=OPENING_BYTES.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// Returns whether a title is a name: a headline has more words in lower case, or marks of a sentence.
fn is_name_like(title: &str) -> bool {
    let words = words(title);
    let lower = words.iter().filter(|word| {
        let folded = word.text.to_lowercase();
        !word.is_name_like() && !is_linking_word(&folded) && !is_stop_word(&folded) && folded.chars().count() > 1
    });
    let starts_well = words.first().is_some_and(|word| word.is_name_like() || !word.text.is_ascii());
    starts_well && lower.count() < 2 && words.len() <= 12 && !title.contains(['?', '…', '|', '/', '_'])
}

fn shown(own: &str, is_name: bool) -> String {
    let mut display: String = own.chars().take(DISPLAY_CHARS_MAX).collect();
    if display.len() < own.len() {
        display.push('…');
    }
    let display = display.trim_matches(['"', '“', '”']).to_owned();
    if is_name { display } else { format!("“{display}”") }
}

/// Returns the name that is mentioned most, a longer one before a shorter, an earlier before a later.
fn most_mentioned(passage: &[Sentence<'_>]) -> Option<(String, Vec<String>)> {
    let mut counted: Vec<(&str, &str, usize)> = Vec::new();
    for mention in passage.iter().flat_map(|sentence| &sentence.mentions) {
        match counted.iter_mut().find(|(key, ..)| *key == mention.key) {
            Some((.., count)) => *count += 1,
            None => counted.push((&mention.key, &mention.display, 1)),
        }
    }
    let best = counted.into_iter().rev().max_by_key(|(key, _, count)| (*count, key.split(' ').count()));
    best.map(|(key, display, _)| (display.to_owned(), vec![key.to_owned()]))
}

/// Returns whether the opening of a document speaks of a person or of a thing.
fn kind(opening: &str, passage: &[Sentence<'_>]) -> SubjectKind {
    let first = sentences(opening).next().and_then(|span| opening.get(span)).unwrap_or_default();
    let words = tokens(first);
    if let Some(verb) = words.iter().position(|it| is_copula(it)) {
        let named = kind_words(&words, verb);
        // The last word of `a film actor` counts, and of `an American documentary film`.
        let told = named.iter().rev().find(|word| is_person_word(word) || is_impersonal_word(word));
        match told {
            Some(word) if is_person_word(word) => return SubjectKind::Person,
            Some(_) => return SubjectKind::Impersonal,
            None => {}
        }
    }
    let is_born = words.iter().any(|word| word == "born") || life_years(first).is_some();
    let is_he = passage.iter().any(|it| ["he", "she"].contains(&it.word(0)));
    if is_born || is_he { SubjectKind::Person } else { SubjectKind::Unknown }
}

/// Returns the words after a verb that name a kind: `a 1926 German silent film` of `is a 1926 German silent film by`.
fn kind_words(words: &[String], verb: usize) -> &[String] {
    let after = words.get(verb + 1..).unwrap_or_default();
    let end = after.iter().position(|word| KIND_ENDS.contains(&word.as_str())).unwrap_or(after.len());
    after.get(..end.min(PREDICATE_WORDS_MAX)).unwrap_or_default()
}

pub(super) fn is_copula(word: &str) -> bool {
    ["is", "was", "are", "were"].contains(&word)
}

/// Returns the years of birth and death that stand in a parenthesis after a name, before its verb.
pub(super) fn life_years(sentence: &str) -> Option<(String, String)> {
    let (name, rest) = sentence.split_once('(')?;
    if tokens(name).iter().any(|word| is_copula(word)) {
        return None;
    }
    let (inside, _) = rest.split_once(')')?;
    let (birth, death) = inside.split_once(['–', '—', '-'])?;
    let year = |text: &str| tokens(text).into_iter().rev().find(|word| is_year(word));
    Some((year(birth)?, year(death)?))
}
