//! Corrects misspelled words of a question: a word that neither English nor the index has becomes the word of the index
//! that is one typing error away, and so does an identifier.

use std::cmp::Reverse;
use std::ops::Range;

use crate::domain::Spelling;
use crate::error::Result;
use crate::store::{GraphReader, TextField};
use crate::text::{Word, is_stop_word, is_written_word, related, term, tokens, words};

/// Characters of a word at least; shorter ones are near too many.
const CHARS_MIN: usize = 4;
/// Characters of a word at most.
const CHARS_MAX: usize = 24;
/// Characters of an identifier at least; its parts may be shorter than words.
const IDENTIFIER_CHARS_MIN: usize = 6;
/// Characters of an identifier at most.
const IDENTIFIER_CHARS_MAX: usize = 48;
/// Words of a question that are checked.
const WORDS_MAX: usize = 32;

/// Endings that form further English words, listed or not.
const ENDINGS: [&str; 14] =
    ["s", "es", "ed", "d", "ing", "er", "ers", "ee", "ly", "ness", "ment", "able", "less", "like"];
/// Letters that people leave out, or take for one another, most.
const VOWELS: &str = "aeiouyαεηιουωаеиоуыэюя";

/// A typing error; usual are those of vowels and of double letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slip {
    Transposed,
    Missing { is_usual: bool },
    Inserted { is_usual: bool },
    Replaced { is_usual: bool },
}

impl Slip {
    /// Returns how likely people make exactly this error: a letter is left out in one of few places, but a wrong one is
    /// one of many letters.
    fn weight(self) -> usize {
        match self {
            Self::Transposed => 200,
            Self::Missing { is_usual: true } => 24,
            Self::Missing { .. } | Self::Inserted { is_usual: true } | Self::Replaced { is_usual: true } => 10,
            Self::Inserted { .. } => 2,
            Self::Replaced { .. } => 1,
        }
    }
}

/// A known word that may be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Meant {
    slip: Slip,
    /// Texts that have it.
    count: usize,
    /// It, with capitals as in what was typed.
    word: String,
}

impl Meant {
    /// Returns the rank, the likeliest first: how frequent a word is counts by its order of magnitude, for people ask
    /// for rare words too.
    fn rank(&self) -> (Reverse<usize>, Reverse<usize>, &str) {
        let magnitude = (usize::BITS - self.count.leading_zeros()) as usize;
        (Reverse(self.slip.weight() * magnitude), Reverse(self.count), &self.word)
    }
}

/// Returns how many texts have a term.
type Frequency<'a> = dyn Fn(&str) -> Result<usize> + 'a;

/// Returns `text` with every unknown word that is one edit away from a known one corrected, and the corrections; none
/// if there are none.
///
/// English words are never replaced, nor words with a digit: another number means something else.
///
/// Complexity: for each unknown word, a look at the frequency of about 50 words a character.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn respelled(text: &str, reader: &dyn GraphReader) -> Result<Option<(String, Vec<Spelling>)>> {
    corrected(text, &|term| reader.frequency(TextField::Passage, term))
}

fn corrected(text: &str, frequency: &Frequency<'_>) -> Result<Option<(String, Vec<Spelling>)>> {
    let mut words = words(text);
    words.truncate(WORDS_MAX);
    let is_joined = |before: &Word<'_>, after: &Word<'_>| matches!(text.get(before.end..after.start), Some("_" | "__"));
    let mut respelled = String::with_capacity(text.len());
    let (mut spellings, mut end) = (Vec::new(), 0);
    for run in words.chunk_by(is_joined) {
        for (span, searched) in corrections(text, run, frequency)? {
            let typed = text.get(span.clone()).unwrap_or_default().to_owned();
            respelled.push_str(text.get(end..span.start).unwrap_or_default());
            respelled.push_str(&searched);
            end = span.end;
            spellings.push(Spelling { typed, searched });
        }
    }
    respelled.push_str(text.get(end..).unwrap_or_default());
    Ok((!spellings.is_empty()).then_some((respelled, spellings)))
}

/// Returns what is misspelled in a word, or in words that underscores join to an identifier, and what is meant.
fn corrections(text: &str, run: &[Word<'_>], frequency: &Frequency<'_>) -> Result<Vec<(Range<usize>, String)>> {
    let folded: Vec<String> = run.iter().map(|word| tokens(word.text).concat()).collect();
    let whole = folded.concat();
    let is_identifier = run.len() > 1 && whole.chars().count() <= IDENTIFIER_CHARS_MAX;
    if is_identifier && frequency(&term(&whole))? > 0 {
        return Ok(Vec::new());
    }
    let meant = run.iter().map(|word| meant_by(word.text, is_identifier, frequency)).collect::<Result<Vec<_>>>()?;
    if is_identifier && let Some((place, word)) = known_with_one(&folded, &meant, frequency)? {
        let span = run[0].start..run[run.len() - 1].end;
        let before = text.get(span.start..run[place].start).unwrap_or_default();
        let after = text.get(run[place].end..span.end).unwrap_or_default();
        let searched = [before, word, after].concat();
        return Ok(vec![(span, searched)]);
    }
    // The words of an unknown identifier are searched for by themselves.
    let is_long = |word: &&str| word.chars().count() >= CHARS_MIN;
    let words = run.iter().zip(meant).filter(|(word, _)| is_long(&word.text));
    let likeliest = words.filter_map(|(word, meant)| {
        let known = meant.into_iter().filter(|meant| is_long(&meant.word.as_str()));
        Some((word.start..word.end, known.min_by(|a, b| a.rank().cmp(&b.rank()))?.word))
    });
    Ok(likeliest.collect())
}

/// Returns the place of the word of an identifier, and what is meant by it, that make one that the index knows.
fn known_with_one<'a>(
    folded: &[String],
    meant: &'a [Vec<Meant>],
    frequency: &Frequency<'_>,
) -> Result<Option<(usize, &'a str)>> {
    let mut known: Vec<(usize, &str, Meant)> = Vec::new();
    for (place, meant) in meant.iter().enumerate() {
        let (before, after) = (folded[..place].concat(), folded[place + 1..].concat());
        for it in meant {
            let whole = [before.as_str(), &tokens(&it.word).concat(), &after].concat();
            let count = frequency(&term(&whole))?;
            if count > 0 {
                known.push((place, &it.word, Meant { count, ..it.clone() }));
            }
        }
    }
    let likeliest = known.into_iter().min_by(|(_, _, a), (_, _, b)| a.rank().cmp(&b.rank()));
    Ok(likeliest.map(|(place, word, _)| (place, word)))
}

/// Returns the words of the index that may be meant by one that it does not know; `is_part` of an identifier.
fn meant_by(word: &str, is_part: bool, frequency: &Frequency<'_>) -> Result<Vec<Meant>> {
    let humps = humps(word);
    let folded: Vec<String> = humps.iter().map(|hump| tokens(hump).concat()).collect();
    let whole = folded.concat();
    let (least, most) = match (is_part, humps.len() > 1) {
        (true, _) => (1, IDENTIFIER_CHARS_MAX),
        (false, true) => (IDENTIFIER_CHARS_MIN, IDENTIFIER_CHARS_MAX),
        (false, false) => (CHARS_MIN, CHARS_MAX),
    };
    let mut meant = Vec::new();
    let is_word = whole.chars().all(char::is_alphabetic) && (least..=most).contains(&whole.chars().count());
    if !is_word || is_right(&whole, frequency)? {
        return Ok(meant);
    }
    for (at, hump) in humps.iter().enumerate() {
        if humps.len() > 1 && is_right(&folded[at], frequency)? {
            continue;
        }
        let (before, after) = (folded[..at].concat(), folded[at + 1..].concat());
        for (slip, candidate) in slips(&folded[at]) {
            let known = [before.as_str(), &candidate, &after].concat();
            let count = if known.chars().count() < least { 0 } else { frequency(&term(&known))? };
            if count > 0 {
                let word = [humps[..at].concat(), cased(&candidate, hump), humps[at + 1..].concat()].concat();
                meant.push(Meant { slip, count, word });
            }
        }
    }
    Ok(meant)
}

/// Returns whether a word, or a part of one, is as people write it, or as the index has it.
fn is_right(word: &str, frequency: &Frequency<'_>) -> Result<bool> {
    // Every abbreviation of two letters is listed.
    if is_stop_word(word) || (word.chars().count() > 2 && is_written(word)) {
        return Ok(true);
    }
    let own = term(word);
    for known in std::iter::once(&own).chain(related(&own)) {
        if frequency(known)? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether people write this word: it is listed, or made of one that is.
fn is_written(word: &str) -> bool {
    let made_of =
        |ending: &&str| word.strip_suffix(*ending).filter(|of| of.len() >= CHARS_MIN).is_some_and(is_written_word);
    is_written_word(word) || ENDINGS.iter().any(made_of)
}

/// Returns the parts of a word that begin with capitals inside it: `max` and `Connections`; others are one part.
fn humps(word: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let begins = |three: &&[(usize, char)]| {
        let [before, here, after] = [0, 1, 2].map(|at| three[at].1);
        here.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && after.is_lowercase()))
    };
    let starts = chars.windows(3).filter(begins).map(|three| three[1].0);
    let mut bounds: Vec<usize> = std::iter::once(0).chain(starts).collect();
    bounds.push(word.len());
    bounds.windows(2).filter_map(|bound| word.get(bound[0]..bound[1])).collect()
}

/// Returns a word in lower case with capitals as `typed` has them.
fn cased(word: &str, typed: &str) -> String {
    if typed.chars().nth(1).is_some() && typed.chars().all(char::is_uppercase) {
        return word.to_uppercase();
    }
    let mut chars = word.chars();
    match chars.next() {
        Some(first) if typed.starts_with(char::is_uppercase) => first.to_uppercase().chain(chars).collect(),
        _ => word.to_owned(),
    }
}

/// Returns the candidates for a word with one typing error; its first letter is right.
fn slips(word: &str) -> Vec<(Slip, String)> {
    let chars: Vec<char> = word.chars().collect();
    let letters = letters(&chars);
    let with = |slip, changed: Vec<char>| (slip, changed.into_iter().collect::<String>());
    let is_vowel = |letter: char| VOWELS.contains(letter);
    let mut found = Vec::with_capacity((2 * letters.len() + 2) * chars.len());
    for (at, &own) in chars.iter().enumerate() {
        let next = chars.get(at + 1).copied();
        if next.is_some_and(|next| next != own) {
            let mut changed = chars.clone();
            changed.swap(at, at + 1);
            found.push(with(Slip::Transposed, changed));
        }
        if at > 0 {
            let mut changed = chars.clone();
            changed.remove(at);
            let is_usual = own == chars[at - 1] || next == Some(own);
            found.push(with(Slip::Inserted { is_usual }, changed));
            for letter in &letters {
                let mut changed = chars.clone();
                changed[at] = *letter;
                let is_usual = is_vowel(own) && is_vowel(*letter);
                found.push(with(Slip::Replaced { is_usual }, changed));
            }
        }
        for letter in &letters {
            let mut changed = chars.clone();
            changed.insert(at + 1, *letter);
            let is_usual = is_vowel(*letter) || *letter == own || next == Some(*letter);
            found.push(with(Slip::Missing { is_usual }, changed));
        }
    }
    found.retain(|(_, candidate)| candidate != word);
    found
}

/// Returns the letters of the alphabet of a word; those of the word itself if the alphabet is unknown.
fn letters(word: &[char]) -> Vec<char> {
    for range in ['a'..='z', 'α'..='ω', 'а'..='я', 'ا'..='ي'] {
        if word.iter().all(|letter| range.contains(letter)) {
            return range.filter(|letter| letter.is_alphabetic()).collect();
        }
    }
    let mut letters = word.to_vec();
    letters.sort_unstable();
    letters.dedup();
    letters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::terms;

    /// Checks what is searched for in an index of `texts`, each given with how many there are of it.
    #[track_caller]
    fn check(texts: &[(&str, usize)], cases: &[(&str, &str)]) {
        let has = |text: &str, term: &str| terms(text).iter().any(|it| it == term);
        let frequency = |term: &str| Ok(texts.iter().filter(|it| has(it.0, term)).map(|it| it.1).sum());
        for (typed, expect) in cases {
            let searched = corrected(typed, &frequency).unwrap().map_or_else(|| (*typed).to_owned(), |it| it.0);
            assert_eq!(searched, *expect, "{typed}");
        }
    }

    #[test]
    fn the_likeliest_of_several_words_is_meant() {
        check(
            &[
                ("tokens", 1),
                ("twelve tons", 40),
                ("commit", 1),
                ("comet", 3),
                ("comic", 9),
                ("brigade", 9),
                ("bridge", 1),
            ],
            &[("tokns", "tokens"), ("The Tokns", "The Tokens"), ("comit", "commit"), ("brigde", "bridge")],
        );
        check(&[("tons", 1), ("tokens", 0)], &[("tokns", "tons")]);
        check(&[("calendar", 1), ("calendula", 9)], &[("calandar", "calendar"), ("tokns", "tokns")]);
    }

    #[test]
    fn words_that_are_known_or_listed_and_numbers_stay() {
        check(
            &[("bridge zyxw", 5)],
            &[("brigde", "bridge"), ("bride", "bride"), ("zyxw", "zyxw"), ("bri7dge", "bri7dge"), ("brg", "brg")],
        );
    }

    #[test]
    fn identifiers_are_corrected_whole() {
        check(
            &[("reads maxConnections from", 2), ("``wal_level`` determines", 1), ("getUserById isValid rowCount", 1)],
            &[
                ("What is maxConnectoins?", "What is maxConnections?"),
                ("maConnections MaxConections", "maxConnections MaxConnections"),
                ("max_conections", "max_connections"),
                ("the wal_levle", "the wal_level"),
                ("WAL_LEVLE wla_level walLevle", "WAL_LEVEL wal_level walLevel"),
                ("gteUserById isVaild", "getUserById isValid"),
                ("maxConnections walLevel wal__level", "maxConnections walLevel wal__level"),
                // Listed words are meant as they are, and two errors are none.
                ("rawCount wal_lever", "rawCount wal_lever"),
                ("maxConectoins", "maxConectoins"),
                ("maxConnectoins2 wal_levle2", "maxConnectoins2 wal_levle2"),
            ],
        );
        check(&[("a level", 1)], &[("wal_levle", "wal_level"), ("lvl_a", "lvl_a")]);
    }

    #[test]
    fn few_words_are_looked_up_for_each_character() {
        for typed in ["zyxwvutsrq".repeat(2), "zyxwvZyxwvu_".repeat(4), "zyxwvutsrqZ".repeat(4)] {
            let asked = std::cell::Cell::new(0);
            let none = |_: &str| {
                asked.set(asked.get() + 1);
                Ok(0)
            };
            assert_eq!(corrected(&typed, &none).unwrap(), None);
            assert!((1..=56 * typed.len()).contains(&asked.get()), "{typed}: {}", asked.get());
        }
        assert_eq!(corrected(&"zyxwvutsrqZ".repeat(400), &|_| panic!("it is no identifier")).unwrap(), None);
    }

    #[test]
    fn a_slip_is_one_letter_too_many_too_few_another_or_two_in_the_wrong_order() {
        let slips = slips("brigde");
        let has = |slip, word: &str| slips.contains(&(slip, word.to_owned()));
        assert!(has(Slip::Transposed, "bridge") && has(Slip::Inserted { is_usual: false }, "brige"));
        assert!(has(Slip::Missing { is_usual: true }, "brigade") && has(Slip::Replaced { is_usual: false }, "brigge"));
        assert!(!slips.iter().any(|it| it.1 == "brigde"));
        assert!(slips.iter().all(|it| it.1.starts_with('b') || it.1 == "rbigde"));
    }

    #[test]
    fn words_that_people_write_are_no_slips() {
        assert!(["what", "whats", "signee", "bridges"].into_iter().all(is_written));
        assert!(!["brigde", "bornj", "sydeney", "aquire"].into_iter().any(is_written));
    }

    #[test]
    fn words_of_other_alphabets_have_slips_too() {
        assert!(slips("книаг").contains(&(Slip::Transposed, "книга".to_owned())));
        assert!(slips("öäöä").iter().all(|it| it.1.chars().all(|letter| "öä".contains(letter))));
    }
}
