//! What the words of a name reveal: the type of its entity, and which names are spellings of one.

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use super::lexicon::is_linking_word;

/// The type of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum NameType {
    /// A person.
    Person = 1,
    /// Somewhere.
    Place = 2,
    /// People who act together: a company, a school, a party, a band.
    Organization = 3,
    /// A work: a film, a song, a book.
    Work = 4,
    /// What happened.
    Event = 5,
}

impl NameType {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Person, Self::Place, Self::Organization, Self::Work, Self::Event];

    /// Returns the word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Place => "place",
            Self::Organization => "organization",
            Self::Work => "work",
            Self::Event => "event",
        }
    }

    /// Returns the type of a number in a version; none for 0 and for unknown numbers.
    #[must_use]
    pub fn of_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|it| *it as u32 == code)
    }
}

type Words = FxHashMap<&'static str, NameType>;

/// The words of `name_words.txt`, by where they stand.
#[derive(Default)]
struct NameWords {
    before: Words,
    head: Words,
    noun: Words,
    /// Words that no name of a person has, of whatever kind.
    other: FxHashSet<&'static str>,
    /// Words that no name of a person begins with.
    first: FxHashSet<&'static str>,
}

/// The rules of `name_forms.txt`.
#[derive(Default)]
struct NameForms {
    names: FxHashMap<&'static str, &'static str>,
    words: FxHashMap<&'static str, &'static str>,
    endings: FxHashSet<&'static str>,
}

static WORDS: LazyLock<NameWords> = LazyLock::new(|| {
    let mut words = NameWords::default();
    for (what, list) in lines(include_str!("name_words.txt")).filter_map(|line| line.split_once(':')) {
        let Some((kind, place)) = what.split_once(' ') else { continue };
        let Some(kind) = NameType::ALL.into_iter().find(|it| it.name() == kind) else {
            let further = if place == "first" { &mut words.first } else { &mut words.other };
            further.extend(list.split_whitespace());
            continue;
        };
        let of_place = match place {
            "before" => &mut words.before,
            "head" => &mut words.head,
            _ => &mut words.noun,
        };
        of_place.extend(list.split_whitespace().map(|word| (word, kind)));
    }
    words
});

static FORMS: LazyLock<NameForms> = LazyLock::new(|| {
    let mut forms = NameForms::default();
    for line in lines(include_str!("name_forms.txt")) {
        if let Some((form, name)) = line.split_once(" = ") {
            forms.names.insert(form, name);
        } else if let Some((form, word)) = line.split_once(" ~ ") {
            forms.words.insert(form, word);
        } else if let Some(word) = line.strip_suffix(" -") {
            forms.endings.insert(word);
        }
    }
    forms
});

fn lines(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().filter(|line| !line.starts_with('#'))
}

/// Returns the type that a noun names.
#[must_use]
pub(crate) fn type_of_noun(word: &str) -> Option<NameType> {
    WORDS.noun.get(word).copied()
}

/// Returns the type of a folded name, by its honorific or its head.
#[must_use]
pub(crate) fn type_of_name(name: &str) -> Option<NameType> {
    let words: Vec<&str> = name.split(' ').collect();
    let [first, .., last] = words.as_slice() else { return None };
    let head =
        words.iter().position(|word| is_linking_word(word)).filter(|at| *at > 0).map_or(*last, |at| words[at - 1]);
    WORDS.before.get(first).or_else(|| WORDS.head.get(head)).copied()
}

/// Returns whether a word of a name shows that it is not a person's: `Records`, `River`.
#[must_use]
pub(crate) fn names_no_person(word: &str) -> bool {
    let is_of = |words: &Words| words.get(word).is_some_and(|kind| *kind != NameType::Person);
    is_of(&WORDS.head) || is_of(&WORDS.noun) || WORDS.other.contains(word)
}

/// Returns whether no name of a person begins with a word: `New`.
#[must_use]
pub(crate) fn begins_no_person(word: &str) -> bool {
    WORDS.first.contains(word)
}

/// Returns a folded name without the titles before it, if it has any and something is left: `Dr. Ada Lund`.
#[must_use]
pub(crate) fn without_honorific(name: &str) -> Option<&str> {
    let mut rest = name;
    while let Some((first, after)) = rest.split_once(' ').filter(|(first, _)| WORDS.before.contains_key(first)) {
        debug_assert!(!first.is_empty(), "words are joined by one space");
        rest = after;
    }
    (rest.len() < name.len()).then_some(rest)
}

/// Returns the form that all spellings of a folded name have: `the St. Louis Ltd` is `saint louis`.
#[must_use]
pub(crate) fn normal_form(name: &str) -> Cow<'_, str> {
    // "The Hague" is not Hague.
    let mut form = name.strip_prefix("the ").filter(|rest| rest.contains(' ')).unwrap_or(name);
    while let Some((rest, _)) = form.rsplit_once(' ').filter(|(_, last)| FORMS.endings.contains(last)) {
        form = rest;
    }
    if let Some(name) = FORMS.names.get(form) {
        return Cow::Borrowed(name);
    }
    if !form.contains(' ') || !form.split(' ').any(|word| FORMS.words.contains_key(word)) {
        return Cow::Borrowed(form);
    }
    Cow::Owned(form.split(' ').map(|word| FORMS.words.get(word).copied().unwrap_or(word)).collect::<Vec<_>>().join(" "))
}

/// Returns the first letters of the words of a folded name, of all and of those that are no linking words.
#[must_use]
pub(crate) fn initials(name: &str) -> [String; 2] {
    let first = |word: &str| word.chars().next();
    let all = name.split(' ').filter_map(first).collect();
    [all, name.split(' ').filter(|word| !is_linking_word(word)).filter_map(first).collect()]
}

/// Returns whether two different words differ by one letter that is more, less, another, or changes places with the
/// next, with the same beginning and ending: what inflection changes is no misspelling.
#[must_use]
pub(crate) fn is_misspelling(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let alike = |a: &mut dyn Iterator<Item = (&char, &char)>| a.take_while(|(a, b)| a == b).count();
    let start = alike(&mut short.iter().zip(&long));
    let end = alike(&mut short.iter().rev().zip(long.iter().rev()));
    if start == 0 || end < ENDING_CHARS || short == long {
        return false;
    }
    let (start, end) = (start, end.min(short.len() - start));
    let (left, more) = (&short[start..short.len() - end], &long[start..long.len() - end]);
    let is_swap = matches!((left, more), ([a, b], [c, d]) if a == d && b == c);
    more.len() <= 1 || is_swap
}

/// Characters at the end of words that one letter sets apart, which they share.
const ENDING_CHARS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_name_follows_from_its_title_or_its_head() {
        for (name, expect) in [
            ("prof ada lund", Some(NameType::Person)),
            ("university of harl", Some(NameType::Organization)),
            ("lund records", Some(NameType::Organization)),
            ("battle of pale hill", Some(NameType::Event)),
            ("harl river", Some(NameType::Place)),
            ("ada lund", None),
            ("of", None),
        ] {
            assert_eq!(type_of_name(name), expect, "{name}");
        }
        assert_eq!(type_of_noun("city"), Some(NameType::Place));
        assert!(names_no_person("records") && !names_no_person("king") && !names_no_person("lund"));
        assert_eq!([0, 3, 9].map(NameType::of_code), [None, Some(NameType::Organization), None]);
    }

    #[test]
    fn spellings_of_one_name_have_one_form() {
        for (name, expect) in [
            ("the united states of america", "united states"),
            ("u s", "united states"),
            ("st louis", "saint louis"),
            ("harl mill inc", "harl mill"),
            ("the hague", "the hague"),
            ("the", "the"),
            ("inc", "inc"),
            ("st", "st"),
        ] {
            assert_eq!(normal_form(name), expect, "{name}");
        }
        assert_eq!(without_honorific("prof dr ada lund"), Some("ada lund"));
        assert_eq!([without_honorific("ada lund"), without_honorific("king")], [None, None]);
        assert_eq!(initials("bank of the west"), ["botw", "bw"].map(str::to_owned));
    }

    #[test]
    fn one_letter_inside_a_word_is_a_misspelling_but_an_ending_is_not() {
        for (one, other) in
            [("varnholt", "varnhollt"), ("tollamy", "tolamy"), ("halvern", "havlern"), ("ramey", "ramsey")]
        {
            assert!(is_misspelling(one, other) && is_misspelling(other, one), "{one} {other}");
        }
        for (one, other) in
            [("american", "america"), ("coyote", "coyotes"), ("lund", "lund"), ("lund", "mund"), ("ab", "b"), ("", "a")]
        {
            assert!(!is_misspelling(one, other), "{one} {other}");
        }
    }
}
