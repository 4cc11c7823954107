//! Corrects misspelled words of a question: a word that neither English nor the index has becomes the word of the index
//! that is one typing error away.

use crate::domain::Spelling;
use crate::error::Result;
use crate::store::{GraphReader, TextField};
use crate::text::{is_stop_word, is_written_word, related, term, tokens, words};

/// Characters of a word at least; shorter ones are near too many.
const CHARS_MIN: usize = 4;
/// Characters of a word at most.
const CHARS_MAX: usize = 24;
/// Words of a question that are checked.
const WORDS_MAX: usize = 32;

/// Endings that form further English words, listed or not.
const ENDINGS: [&str; 14] =
    ["s", "es", "ed", "d", "ing", "er", "ers", "ee", "ly", "ness", "ment", "able", "less", "like"];

/// A typing error, the likeliest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Slip {
    Transposed,
    Inserted,
    Missing,
    Replaced,
}

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
    let mut respelled = String::with_capacity(text.len());
    let (mut spellings, mut end) = (Vec::new(), 0);
    for word in words(text).into_iter().take(WORDS_MAX) {
        let Some(searched) = nearest(word.text, reader)? else { continue };
        respelled.push_str(text.get(end..word.start).unwrap_or_default());
        respelled.push_str(&searched);
        end = word.end;
        spellings.push(Spelling { typed: word.text.to_owned(), searched });
    }
    respelled.push_str(text.get(end..).unwrap_or_default());
    Ok((!spellings.is_empty()).then_some((respelled, spellings)))
}

/// Returns the word of the index that is meant by one that it does not know.
fn nearest(word: &str, reader: &dyn GraphReader) -> Result<Option<String>> {
    let folded = tokens(word).concat();
    let count = folded.chars().count();
    let is_word = folded.chars().all(char::is_alphabetic) && (CHARS_MIN..=CHARS_MAX).contains(&count);
    if !is_word || is_stop_word(&folded) || is_written(&folded) || is_camel_case(word) {
        return Ok(None);
    }
    let own = term(&folded);
    let frequency = |term: &str| reader.frequency(TextField::Passage, term);
    if frequency(&own)? > 0 {
        return Ok(None);
    }
    for other in related(&own) {
        if frequency(other)? > 0 {
            return Ok(None);
        }
    }
    let mut best: Option<(Slip, std::cmp::Reverse<usize>, String)> = None;
    for (slip, candidate) in slips(&folded) {
        let count = frequency(&term(&candidate))?;
        let offered = (slip, std::cmp::Reverse(count), candidate);
        if count > 0 && best.as_ref().is_none_or(|best| offered < *best) {
            best = Some(offered);
        }
    }
    Ok(best
        .map(|(.., candidate)| if word.starts_with(char::is_uppercase) { capitalized(&candidate) } else { candidate }))
}

/// Returns whether people write this word: it is listed, or made of one that is.
fn is_written(word: &str) -> bool {
    let made_of =
        |ending: &&str| word.strip_suffix(*ending).filter(|of| of.len() >= CHARS_MIN).is_some_and(is_written_word);
    is_written_word(word) || ENDINGS.iter().any(made_of)
}

fn is_camel_case(word: &str) -> bool {
    word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase)
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Returns the candidates for a word with one typing error; its first letter is right.
fn slips(word: &str) -> Vec<(Slip, String)> {
    let chars: Vec<char> = word.chars().collect();
    let letters = letters(&chars);
    let with = |slip, changed: Vec<char>| (slip, changed.into_iter().collect::<String>());
    let mut found = Vec::with_capacity((2 * letters.len() + 2) * chars.len());
    for at in 0..chars.len() {
        if at + 1 < chars.len() && chars[at] != chars[at + 1] {
            let mut changed = chars.clone();
            changed.swap(at, at + 1);
            found.push(with(Slip::Transposed, changed));
        }
        if at > 0 {
            let mut changed = chars.clone();
            changed.remove(at);
            found.push(with(Slip::Inserted, changed));
            for letter in &letters {
                let mut changed = chars.clone();
                changed[at] = *letter;
                found.push(with(Slip::Replaced, changed));
            }
        }
        for letter in &letters {
            let mut changed = chars.clone();
            changed.insert(at + 1, *letter);
            found.push(with(Slip::Missing, changed));
        }
    }
    found.retain(|(_, candidate)| candidate != word && candidate.chars().count() >= CHARS_MIN);
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

    #[test]
    fn a_slip_is_one_letter_too_many_too_few_another_or_two_in_the_wrong_order() {
        let slips = slips("brigde");
        let has = |slip, word: &str| slips.contains(&(slip, word.to_owned()));
        assert!(has(Slip::Transposed, "bridge") && has(Slip::Inserted, "brige"));
        assert!(has(Slip::Missing, "brigade") && has(Slip::Replaced, "brigge"));
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
