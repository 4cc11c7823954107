//! The names of a document in its own spelling.

use rustc_hash::FxHashMap;

use crate::domain::Span;
use crate::graph::mentions::{NamedDocument, NamedPassage};
use crate::graph::ordinal::{DocumentOrdinal, EntityOrdinal, Ordinal as _, SentenceOrdinal};
use crate::graph::packed::{PassageGraph, name_kind};
use crate::text::{
    NameType, aliases, folded, is_linking_word, is_stop_word, lead_name, standing_names, type_of_noun, words,
};

/// Characters in a parenthesis that may be another name.
const PARENTHESIS_CHARS_MAX: usize = 60;
/// Words after the verb of a sentence that may say what something is.
const PREDICATE_WORDS_MAX: usize = 9;
/// Words before a name that mark it as a place.
const PLACING: &[&str] =
    &["in", "at", "near", "into", "around", "across", "throughout", "the", "between", "from", "to"];
/// Words that speak of a person.
const PRONOUNS: &[&str] = &["he", "she", "his", "her", "him", "hers"];
const VERBS: &[&str] = &["is", "was", "are", "were"];

/// A place in a document: its sentence and the byte there.
pub(super) type Place = (SentenceOrdinal, u32);

/// A name of a document.
pub(super) struct Standing<'a> {
    pub(super) entity: EntityOrdinal,
    /// Its folded words.
    pub(super) name: &'a str,
    /// The name in its first full spelling, if there is one.
    pub(super) written: Option<String>,
    /// Its first and last position.
    pub(super) places: Option<(Place, Place)>,
    /// Whether a word before it marks it as a place.
    pub(super) is_placed: bool,
    /// The parenthesis after it, folded.
    pub(super) parentheses: Vec<String>,
    /// How the document has it, if it does.
    pub(super) borne: Option<u32>,
}

/// The type that a sentence gives to an entity.
pub(super) type Cue = (EntityOrdinal, NameType, SentenceOrdinal);

/// What resolution looks at in a document.
pub(super) struct DocumentNames<'a> {
    /// Its names, in order of their entities.
    pub(super) names: Vec<Standing<'a>>,
    /// Whether it speaks of a person.
    pub(super) has_pronouns: bool,
    /// The folded name of what its first sentence is about, and other names that the sentence gives to that.
    pub(super) subject: Option<(String, Vec<String>)>,
    /// What sentences say that its names are.
    pub(super) cues: Vec<Cue>,
}

impl<'a> DocumentNames<'a> {
    /// Reads a document. Complexity: linear in its text and mentions.
    pub(super) fn of(graph: &PassageGraph<'a>, number: DocumentOrdinal, document: &NamedDocument<'_>) -> Self {
        let mut found = Self { names: Vec::new(), has_pronouns: false, subject: subject(document), cues: Vec::new() };
        let mut known: FxHashMap<EntityOrdinal, usize> = FxHashMap::default();
        for own in graph.document_own.of(number) {
            let entity = graph.own_entity[own];
            let borne = borne(graph, entity, number);
            let at = found.number(graph, &mut known, entity);
            found.names[at].borne = borne;
        }
        for (passage, text) in graph.document_passages.of(number).zip(&document.passages) {
            let mentions = graph.passage_mentions.of(passage);
            let mut mentions: Vec<(SentenceOrdinal, EntityOrdinal)> =
                mentions.map(|it| (graph.mention_sentence[it], graph.mention_entity[it])).collect();
            mentions.sort_unstable();
            mentions.dedup();
            let prose = &*text.prose();
            let first = graph.passage_sentences.of(passage).range().start;
            for same in mentions.chunk_by(|a, b| a.0 == b.0) {
                let numbers: Vec<usize> = same.iter().map(|it| found.number(graph, &mut known, it.1)).collect();
                let Some(sentence) = text.sentences.get(same[0].0.index() - first) else { continue };
                found.add_sentence(same[0].0, text_of(prose, *sentence, text), &numbers);
            }
        }
        found.names.sort_unstable_by_key(|it| it.entity);
        found
    }

    fn number(
        &mut self,
        graph: &PassageGraph<'a>,
        known: &mut FxHashMap<EntityOrdinal, usize>,
        entity: EntityOrdinal,
    ) -> usize {
        *known.entry(entity).or_insert_with(|| {
            self.names.push(Standing {
                entity,
                name: graph.entity_name(entity),
                written: None,
                places: None,
                is_placed: false,
                parentheses: Vec::new(),
                borne: None,
            });
            self.names.len() - 1
        })
    }

    fn add_sentence(&mut self, number: SentenceOrdinal, text: &str, numbers: &[usize]) {
        let names: Vec<&str> = numbers.iter().map(|at| self.names[*at].name).collect();
        let stands = standing_names(text, &names);
        self.has_pronouns = self.has_pronouns || words(text).iter().any(|it| is_one_of(it.text, PRONOUNS));
        for (at, span) in stands {
            let (before, after) = (last_words(&text[..span.start]), &text[span.end..]);
            let name = &mut self.names[numbers[at]];
            let place = (number, span.start as u32);
            name.places = Some(name.places.map_or((place, place), |(first, _)| (first, place)));
            name.written.get_or_insert_with(|| text[span.clone()].to_owned());
            name.is_placed |= is_placed(before);
            name.parentheses.extend(in_parenthesis(after).map(folded));
            let kind = noun_before(before).or_else(|| noun_after(after));
            self.cues.extend(kind.map(|kind| (name.entity, kind, number)));
        }
    }
}

/// Returns how a document has a name, if it does.
pub(super) fn borne(graph: &PassageGraph<'_>, name: EntityOrdinal, document: DocumentOrdinal) -> Option<u32> {
    let bearers = graph.entity_bearers.of(name).filter(|it| graph.bearer_document[*it] == document);
    bearers.map(|bearer| graph.bearer_kind[bearer]).min()
}

/// Returns whether a word is one of some words of ASCII, in whatever case.
fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|it| it.eq_ignore_ascii_case(word))
}

/// Returns the end of a text, with its last word and the one right before that.
fn last_words(text: &str) -> &str {
    let mut gaps = text.trim_end().rmatch_indices(char::is_whitespace);
    gaps.nth(2).map_or(text, |(start, _)| &text[start..])
}

/// Returns the beginning of a text, up to white space behind so many words.
fn first_words(text: &str, count: usize) -> &str {
    let ends = text
        .char_indices()
        .zip(text.chars().skip(1))
        .filter(|((_, c), next)| !c.is_whitespace() && next.is_whitespace());
    ends.map(|((at, c), _)| at + c.len_utf8()).nth(count.saturating_sub(1)).map_or(text, |end| &text[..end])
}

fn text_of<'t>(prose: &'t str, sentence: Span, text: &NamedPassage<'_>) -> &'t str {
    // Blanks replace other text byte for byte.
    if prose.len() == text.text.len() { sentence.of(prose) } else { "" }
}

/// Returns the folded name of the subject of a document's first sentence, or its title, with the other names that the
/// sentence gives to it.
fn subject(document: &NamedDocument<'_>) -> Option<(String, Vec<String>)> {
    let passage = document.passages.first().filter(|passage| !passage.is_code())?;
    let sentences = passage.sentences.iter().map(|sentence| sentence.of(passage.text));
    let sentence = sentences.into_iter().find(|it| !it.starts_with('#')).unwrap_or_default();
    let name = lead_name(sentence).or(document.title)?;
    Some((folded(name), aliases(name, sentence)))
}

/// Returns whether the word before a name marks it as a place.
fn is_placed(before: &str) -> bool {
    let joined = before.ends_with(char::is_whitespace);
    joined && words(before).last().is_some_and(|it| is_one_of(it.text, PLACING))
}

/// Returns the parenthesis after a name, up to the first comma or semicolon.
fn in_parenthesis(after: &str) -> Option<&str> {
    let after = after.strip_prefix(['"', '”']).unwrap_or(after);
    let inside = after.trim_start().strip_prefix('(')?;
    let inside =
        ["or ", "the ", "abbreviated ", "also "].iter().fold(inside, |it, word| it.strip_prefix(word).unwrap_or(it));
    let end = inside.char_indices().take(PARENTHESIS_CHARS_MAX).find(|(_, c)| matches!(c, ')' | ',' | ';' | '('))?.0;
    Some(&inside[..end])
}

/// Returns the type given by the noun right before a name: `the film Jaws`, `the city of Ravenna`.
fn noun_before(before: &str) -> Option<NameType> {
    let gap = before.trim_end().len() < before.len();
    let found = words(before.trim_end());
    let (last, rest) = found.split_last()?;
    if !gap || last.end < before.trim_end().len() {
        return None;
    }
    if last.text == "of" {
        let noun = rest.last().filter(|noun| last.start - noun.end == 1)?;
        return type_of_noun(noun.text).filter(|kind| *kind == NameType::Place);
    }
    // In lower case: a capitalized noun would be a part of another name.
    type_of_noun(last.text)
}

/// Returns the type that a sentence gives to the name before `after`: `Ravenna is a city`.
fn noun_after(after: &str) -> Option<NameType> {
    let rest = after.trim_start();
    let rest = match rest.strip_prefix('(') {
        Some(inside) => inside.split_once(')')?.1,
        None => rest,
    };
    // Between those that count there is nothing but white space and hyphens.
    let rest = first_words(rest, 2 + PREDICATE_WORDS_MAX);
    let found = words(rest);
    let mut found = found.iter();
    let verb = found.next().filter(|it| VERBS.contains(&it.text) && rest[..it.start].trim().is_empty())?;
    let article = found.next().filter(|it| matches!(it.text, "a" | "an" | "the") && it.start == verb.end + 1)?;
    let (mut kind, mut end) = (None, article.end);
    for word in found.take(PREDICATE_WORDS_MAX) {
        let gap = &rest[end..word.start];
        let goes_on = gap.chars().all(|c| c.is_whitespace() || c == '-');
        if !goes_on || is_stop_word(word.text) || is_linking_word(word.text) {
            break;
        }
        // The last noun of the phrase is its head; a participle ends the phrase.
        match type_of_noun(word.text) {
            Some(found) => kind = Some(found),
            None if kind.is_some() => break,
            None => {}
        }
        end = word.end;
    }
    kind
}

/// Returns whether a name is a document's title, whole or up to a parenthesis or comma.
pub(super) const fn is_titled(kind: u32) -> bool {
    matches!(kind, name_kind::TITLE | name_kind::BARE_TITLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_a_name_is() {
        for (before, after, expect) in [
            ("", " is a city in the north.", Some(NameType::Place)),
            ("", " (born 1900) was an American film actor and pilot.", Some(NameType::Person)),
            ("", " is a 1975 thriller film directed by her", Some(NameType::Work)),
            ("She saw the film ", ".", Some(NameType::Work)),
            ("in the town of ", ".", Some(NameType::Place)),
            ("the band of ", ".", None),
            ("", " is a good friend", None),
            ("", " and the city", None),
            ("the Film ", "", None),
        ] {
            assert_eq!(noun_before(before).or_else(|| noun_after(after)), expect, "{before}X{after}");
        }
    }

    #[test]
    fn the_words_that_count_lie_around_a_name() {
        assert_eq!(last_words("They saw the old city of "), " old city of ");
        assert_eq!([last_words("city of "), last_words(" \n"), last_words("")], ["city of ", " \n", ""]);
        assert_eq!(first_words(" is  a\ncity of mills", 3), " is  a\ncity");
        assert_eq!([first_words("is a", 3), first_words("", 2)], ["is a", ""]);
    }

    #[test]
    fn a_parenthesis_and_the_word_before_are_read() {
        assert_eq!(in_parenthesis(" (HTU) is"), Some("HTU"));
        assert_eq!(in_parenthesis(" (abbreviated HTU; 1900)"), Some("HTU"));
        assert_eq!(in_parenthesis(" is (HTU)"), None);
        assert!(is_placed("born in ") && !is_placed("in the year 1990, ") && !is_placed("begin-"));
    }
}
