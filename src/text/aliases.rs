//! Other names that a first sentence gives to its subject: "also known as", a birth name, an acronym in a parenthesis.

use super::lexicon::{MONTHS, is_stop_word};
use super::names::key_of;
use super::words::{Word, words};

/// What stands before another name.
const PHRASES: [&[&str]; 14] = [
    &["also", "known", "as"],
    &["better", "known", "as"],
    &["best", "known", "as"],
    &["known", "professionally", "as"],
    &["known", "as"],
    &["also", "called"],
    &["commonly", "called"],
    &["abbreviated", "as"],
    &["abbreviated"],
    &["nicknamed"],
    &["formerly"],
    &["stage", "name"],
    &["pen", "name"],
    &["born"],
];
/// Words of another name at most.
const WORDS_MAX: usize = 5;
/// Other names that a sentence gives at most.
const ALIASES_MAX: usize = 3;
/// Characters after the name within which letters in a parenthesis stand for it.
const LETTERS_WITHIN: usize = 30;

/// Returns the folded other names that `sentence`, a first sentence, gives to what is called `name`.
#[must_use]
pub(crate) fn aliases(name: &str, sentence: &str) -> Vec<String> {
    let all = words(sentence);
    let mut found = Vec::new();
    let mut at = 0;
    while at < all.len() && found.len() < ALIASES_MAX {
        let phrase = PHRASES.iter().find(|phrase| stands_at(phrase, &all, at));
        at += phrase.map_or(1, |phrase| phrase.len());
        if phrase.is_some() {
            found.extend(named_at(sentence, &all, at));
        }
    }
    found.extend(letters(name, sentence));
    found
}

fn stands_at(phrase: &[&str], all: &[Word<'_>], at: usize) -> bool {
    phrase.iter().enumerate().all(|(i, word)| all.get(at + i).is_some_and(|it| it.text == *word))
}

/// Returns the folded name that begins at word `at`, perhaps after an article and in quotation marks.
fn named_at(sentence: &str, all: &[Word<'_>], at: usize) -> Option<String> {
    let at = if all.get(at)?.text == "the" { at + 1 } else { at };
    let mut end = at;
    while end < all.len().min(at + WORDS_MAX) && all[end].is_capitalized() {
        let gap = if end == at { "" } else { sentence.get(all[end - 1].end..all[end].start)? };
        if !matches!(gap.trim(), "" | "." | "-" | "'" | "’") {
            break;
        }
        end += 1;
    }
    let last = end.checked_sub(1).filter(|last| *last >= at)?;
    let key = key_of(sentence.get(all[at].start..all[last].end)?)?;
    (!MONTHS.contains(&key.split(' ').next()?)).then_some(key)
}

/// Returns the capital letters in a parenthesis right after a name whose first letter they begin with.
fn letters(name: &str, sentence: &str) -> Option<String> {
    let initial = words(name).iter().find(|word| word.is_capitalized())?.text.chars().next()?;
    let within = name.len() + LETTERS_WITHIN;
    let mut inside = sentence.match_indices('(').take_while(|(at, _)| *at <= within).map(|(at, _)| &sentence[at + 1..]);
    inside.find_map(|rest| {
        let rest =
            ["abbreviated ", "or ", "the "].iter().fold(rest, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
        let end = rest.find([')', ',', ';'])?;
        let letters: String = rest[..end].chars().filter(|c| c.is_alphanumeric()).collect();
        let is_short = rest[..end].len() <= 10 && letters.len() >= 2 && !rest[..end].contains(' ');
        let is_name = is_short && letters.chars().all(char::is_uppercase) && letters.starts_with(initial);
        is_name.then(|| key_of(&letters)).flatten().filter(|key| !is_stop_word(key))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_sentence_gives_other_names() {
        for (name, sentence, expect) in [
            (
                "Ada Lund",
                "Ada Lund (born Ada Marie Quill; 4 May 1900), also known as \"The Gull\", was a pilot.",
                vec!["ada marie quill", "the gull"],
            ),
            ("Port Aven", "Port Aven, formerly Saint-Aven, is a town.", vec!["saint aven"]),
            ("Harbor Trust Union", "The Harbor Trust Union (HTU) is a union.", vec!["htu"]),
            ("Harbor Trust Union", "The Harbor Trust Union (UNESCO, 1946) is a union.", vec![]),
            ("Ada Lund", "Ada Lund (born May 4, 1900) was born in spring and known as a pilot.", vec![]),
            ("", "", vec![]),
        ] {
            assert_eq!(aliases(name, sentence), expect, "{sentence}");
        }
    }
}
