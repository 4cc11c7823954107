//! Names within one document that are names of one entity.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Reason;
use super::across::{is_letter, is_short_for};
use super::standing::{Cue, DocumentNames, Standing};
use crate::graph::ordinal::EntityOrdinal;
use crate::graph::packed::name_kind;
use crate::text::{
    DAYS, MONTHS, NameType, begins_no_person, initials, is_linking_word, names_no_person, normal_form,
    without_honorific, words,
};

/// Words of a person's name at least and at most.
const PERSON_WORDS: std::ops::RangeInclusive<usize> = 2..=4;
/// Letters of an acronym at least and at most.
const ACRONYM_LETTERS: std::ops::RangeInclusive<usize> = 2..=8;
/// Letters of abbreviations in names of companies or clubs, but not of persons.
const CLUB_LETTERS: std::ops::RangeInclusive<usize> = 2..=4;
/// Characters of a last name at least.
const LAST_NAME_CHARS_MIN: usize = 3;
/// Suffixes of relatives with the same name.
const RELATIVES: [&str; 4] = ["jr", "sr", "ii", "iii"];

/// Two names of one entity in a document, and why.
pub(super) type Link = (EntityOrdinal, EntityOrdinal, Reason);

/// Returns which names of a document stand for one entity, the surest first.
///
/// Complexity: linear in the names, plus sorting them.
pub(super) fn links(document: &DocumentNames<'_>) -> Vec<Link> {
    let names = Names::of(document);
    let mut links = Vec::new();
    names.own(document, &mut links);
    names.in_parentheses(&mut links);
    names.acronyms(&mut links);
    names.honorifics(&mut links);
    if document.has_pronouns {
        names.persons(&document.cues, &mut links);
    }
    links
}

/// Names of a document by look-up key.
struct Names<'a, 'd> {
    all: &'d [Standing<'a>],
    by_name: FxHashMap<&'a str, usize>,
}

impl<'a, 'd> Names<'a, 'd> {
    fn of(document: &'d DocumentNames<'a>) -> Self {
        let by_name = document.names.iter().enumerate().map(|(at, it)| (it.name, at)).collect();
        Self { all: &document.names, by_name }
    }

    fn find(&self, name: &str) -> Option<&'d Standing<'a>> {
        self.by_name.get(name).map(|at| &self.all[*at])
    }

    /// Links the names of the document: its title with and without a parenthesis, the subject of its first sentence if
    /// that is a form of its title, and other names that the sentence gives to that.
    fn own(&self, document: &DocumentNames<'_>, links: &mut Vec<Link>) {
        let of_kind = |kind| self.all.iter().find(|it| it.borne == Some(kind));
        let (title, bare) = (of_kind(name_kind::TITLE), of_kind(name_kind::BARE_TITLE));
        links.extend(title.zip(bare).map(|(title, bare)| (bare.entity, title.entity, Reason::Document)));
        let place = of_kind(name_kind::BEFORE_COMMA);
        links.extend(title.zip(place).map(|(title, place)| (place.entity, title.entity, Reason::Document)));
        let Some((subject, others)) = &document.subject else { return };
        let Some(subject) = self.find(subject).filter(|it| it.borne.is_some()) else { return };
        if let Some(title) = bare.or(title).filter(|it| it.entity != subject.entity && are_forms(it.name, subject.name))
        {
            links.push((subject.entity, title.entity, Reason::Document));
        }
        let others = others.iter().filter_map(|other| self.find(other));
        let others = others.filter(|it| it.borne == Some(name_kind::LEAD) && it.entity != subject.entity);
        links.extend(others.map(|other| (other.entity, subject.entity, Reason::Document)));
    }

    /// Links a name with the abbreviation in the parenthesis after it.
    fn in_parentheses(&self, links: &mut Vec<Link>) {
        for name in self.all {
            let inside = name.parentheses.iter().filter_map(|inside| self.find(inside));
            let normal = normal_form(name.name);
            let is_short = |it: &&Standing<'_>| {
                it.entity != name.entity && is_abbreviation(it) && it.name.chars().next() == normal.chars().next()
            };
            links.extend(inside.filter(is_short).map(|it| (it.entity, name.entity, Reason::Parenthesis)));
        }
    }

    /// Links letters with the one name whose first letters they are.
    fn acronyms(&self, links: &mut Vec<Link>) {
        let mut spelled: FxHashMap<String, Vec<EntityOrdinal>> = FxHashMap::default();
        for name in self.all.iter().filter(|it| it.name.contains(' ') && begins_with_capital(it)) {
            let [all, telling] = initials(name.name);
            spelled.entry(all.clone()).or_default().push(name.entity);
            if telling != all {
                spelled.entry(telling).or_default().push(name.entity);
            }
        }
        for name in self.all.iter().filter(|it| is_abbreviation(it)) {
            if let Some([whole]) = spelled.get(&name.name.replace(' ', "")).map(Vec::as_slice) {
                links.push((name.entity, *whole, Reason::Acronym));
            }
        }
    }

    /// Links names behind titles with the names alone.
    fn honorifics(&self, links: &mut Vec<Link>) {
        let titled = self.all.iter().filter_map(|it| Some((it, self.find(without_honorific(it.name)?)?)));
        let titled = titled.filter(|(_, name)| name.name.contains(' ') || !(name.is_placed || is_calendar(name.name)));
        links.extend(titled.map(|(titled, name)| (titled.entity, name.entity, Reason::Honorific)));
    }

    /// Links last names, and names with initials or without middle names, with the names of persons.
    fn persons(&self, cues: &[Cue], links: &mut Vec<Link>) {
        let others = cues.iter().filter(|(_, kind, _)| *kind != NameType::Person);
        let others: FxHashSet<EntityOrdinal> = others.map(|it| it.0).collect();
        let persons = self.all.iter().filter(|it| is_person(it) && !others.contains(&it.entity));
        let persons: Vec<&Standing<'_>> = persons.collect();
        let mut by_last: FxHashMap<&str, Vec<&Standing<'_>>> = FxHashMap::default();
        for person in &persons {
            by_last.entry(last_word(person.name)).or_default().push(person);
        }
        for name in self.all.iter().filter(|it| may_be_last_name(it)) {
            let all = by_last.get(name.name).map_or(&[][..], Vec::as_slice);
            let spoken: Vec<_> = all.iter().filter(|it| stands_behind(name, it)).copied().collect();
            let meant = match spoken.as_slice() {
                [only] => Some(*only),
                several => the_only(several.iter().copied().filter(|it| it.borne.is_some())),
            };
            let has_relative = |it: &&Standing<'_>| {
                RELATIVES.iter().any(|relative| self.by_name.contains_key(format!("{} {relative}", it.name).as_str()))
            };
            links.extend(meant.filter(|it| !has_relative(it)).map(|it| (name.entity, it.entity, Reason::LastName)));
        }
        for person in &persons {
            let namesakes = by_last.get(last_word(person.name)).map_or(&[][..], Vec::as_slice);
            let whole = the_only(namesakes.iter().copied().filter(|it| is_shortened(person, it)));
            links.extend(whole.map(|whole| (person.entity, whole.entity, Reason::Initials)));
        }
    }
}

fn the_only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    items.next().filter(|_| items.next().is_none())
}

fn last_word(name: &str) -> &str {
    name.rsplit(' ').next().unwrap_or_default()
}

fn is_calendar(name: &str) -> bool {
    MONTHS.contains(&name) || DAYS.contains(&name)
}

fn begins_with_capital(name: &Standing<'_>) -> bool {
    name.written.as_deref().is_some_and(|it| it.starts_with(char::is_uppercase))
}

/// Returns whether a name is written in capital letters only, like an acronym.
fn is_abbreviation(name: &Standing<'_>) -> bool {
    let letters = name.written.as_deref().unwrap_or_default().chars().filter(|c| !matches!(c, '.' | ' '));
    let is_dotted = name.written.as_deref().is_some_and(|it| it.contains('.'));
    ACRONYM_LETTERS.contains(&letters.clone().count())
        && letters.into_iter().all(char::is_uppercase)
        && (is_dotted || !name.name.contains(' '))
}

/// Returns whether a name is written as a person's may be.
fn is_person(name: &Standing<'_>) -> bool {
    let Some(written) = &name.written else { return false };
    let found = words(written);
    let folded: Vec<&str> = name.name.split(' ').collect();
    let is_club = |word: &str| {
        CLUB_LETTERS.contains(&word.chars().count())
            && word.chars().all(char::is_uppercase)
            && !word.chars().all(|c| matches!(c, 'I' | 'V'))
    };
    PERSON_WORDS.contains(&folded.len())
        && found.len() == folded.len()
        && found.iter().all(|it| it.is_capitalized() || is_linking_word(it.text))
        && !found.iter().any(|it| is_club(it.text) || it.text.contains(char::is_numeric))
        && !folded.iter().any(|it| names_no_person(it) || is_calendar(it))
        && !begins_no_person(folded[0])
        && without_honorific(name.name).is_none()
}

/// Returns whether a name of one word may be a last name.
fn may_be_last_name(name: &Standing<'_>) -> bool {
    let Some(written) = &name.written else { return false };
    !name.name.contains(' ')
        && name.name.chars().count() >= LAST_NAME_CHARS_MIN
        && written.starts_with(char::is_uppercase)
        && !written.chars().all(char::is_uppercase)
        && !name.is_placed
        && !names_no_person(name.name)
        && !is_calendar(name.name)
}

/// Returns whether a name occurs somewhere after the first occurrence of another.
fn stands_behind(name: &Standing<'_>, other: &Standing<'_>) -> bool {
    let last = name.places.map(|(_, last)| last);
    other.places.zip(last).is_some_and(|((first, _), last)| last > first)
}

/// Returns whether one name of a person is another with initials for first names, or is the subject or title of a
/// document without middle names.
fn is_shortened(one: &Standing<'_>, other: &Standing<'_>) -> bool {
    let has_letters = one.name.split(' ').next().is_some_and(is_letter);
    let is_about = one.borne.is_some() || other.borne.is_some();
    (has_letters || is_about) && is_short_for(one.name, other.name)
}

/// Returns whether two names are forms of one: spellings, or one has all words of the other, the last among them.
fn are_forms(one: &str, other: &str) -> bool {
    let (one, other) = (normal_form(one), normal_form(other));
    if one == other {
        return true;
    }
    let (one, other): (Vec<&str>, Vec<&str>) = (one.split(' ').collect(), other.split(' ').collect());
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let is_person_like = !long.iter().any(|word| is_linking_word(word));
    short.len() > 1 && is_person_like && short.last() == long.last() && short.iter().all(|word| long.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_name_share_its_last_word() {
        assert!(are_forms("ada lund", "ada marie lund") && are_forms("the harl mill", "harl mill"));
        assert!(!are_forms("oslo", "university of oslo") && !are_forms("mill of harl", "harl"));
        assert!(!are_forms("ada lund", "ada marr"));
    }
}
