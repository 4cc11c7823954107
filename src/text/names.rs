//! The names of a document: those of its title and of the subject of its first sentence.

use super::lexicon::{is_linking_word, is_stop_word};
use super::words::{tokens, words};

/// How a document has a name; smaller is stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub(crate) enum NameKind {
    /// Its title.
    Title = 0,
    /// Its title without a parenthesis at the end.
    BareTitle = 1,
    /// Its title up to the comma: often a place, shared by many.
    BeforeComma = 2,
    /// The subject of its first sentence, or another name that the sentence gives to it.
    Lead = 3,
    /// The run that a document without title and subject capitalizes most.
    Main = 4,
    /// The run that it capitalizes first.
    First = 5,
}

impl NameKind {
    /// Returns the kind of a number that a version holds; none for what is no kind.
    #[must_use]
    pub(crate) fn of_number(number: u32) -> Option<Self> {
        let all = [Self::Title, Self::BareTitle, Self::BeforeComma, Self::Lead, Self::Main, Self::First];
        all.into_iter().find(|it| *it as u32 == number)
    }
}

/// Words of a name at most.
const NAME_WORDS_MAX: usize = 12;
/// Words of the subject of a first sentence at most.
const LEAD_WORDS_MAX: usize = 10;
/// Maximum characters of the subject of a first sentence, without its article.
const LEAD_CHARS_MAX: usize = 80;
/// Characters of a quoted work at most.
const QUOTED_CHARS_MAX: usize = 60;
/// Words after the subject of a first sentence.
const VERBS: &[&str] = &["is", "was", "are", "were", "has", "had", "refers", "became", "may", "can"];
/// Words that begin sentences but not names, besides stop words.
const OPENERS: &[&str] = &[
    "in", "it", "he", "she", "this", "these", "they", "there", "during", "at", "on", "after", "by", "his", "her", "as",
    "for", "when", "since",
];

/// Returns a title without the parenthesis at its end, if it has one.
#[must_use]
pub(crate) fn strip_parenthesis(title: &str) -> &str {
    let title = title.trim();
    let Some((before, inside)) = title.strip_suffix(')').and_then(|it| it.rsplit_once('(')) else {
        return title;
    };
    if inside.contains(')') { title } else { before.trim() }
}

/// Returns a text from its first line that is not a Markdown heading.
#[must_use]
pub(crate) fn after_headings(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with('#') {
        rest = rest.split_once('\n').map_or("", |(_, below)| below).trim_start();
    }
    rest
}

/// Returns the subject of the first sentence if it is a name: capitalized words before a parenthesis, a comma or a verb
/// such as `is`.
#[must_use]
pub(crate) fn lead_name(text: &str) -> Option<&str> {
    let text = after_headings(text);
    let subject = subject(text.strip_prefix(['"', '“']).unwrap_or(text))?;
    let words = words(subject);
    let first = words.first()?;
    if words.len() > LEAD_WORDS_MAX || !first.is_name_like() {
        return None;
    }
    let lower: Vec<_> = words.iter().filter(|word| !word.is_name_like()).collect();
    if lower.len() > 1 && lower.iter().any(|word| !is_linking_word(word.text)) {
        return None;
    }
    let opening = first.text.to_lowercase();
    let is_opener = OPENERS.contains(&opening.as_str()) || (words.len() == 1 && is_stop_word(&opening));
    (!is_opener).then_some(subject)
}

/// Returns the text before the first parenthesis, comma or verb, if no other punctuation comes first.
fn subject(text: &str) -> Option<&str> {
    let article = ["The ", "A ", "An "].iter().find(|it| text.starts_with(**it)).map_or(0, |it| it.len());
    for (count, (at, c)) in text.char_indices().enumerate() {
        let (before, after) = text.split_at_checked(at)?;
        if count >= 2 && opens_predicate(after) {
            return Some(before.trim());
        }
        let ends_paragraph = after.starts_with("\n\n") || after.starts_with("\r\n\r\n");
        if count >= LEAD_CHARS_MAX + article || ends_paragraph || ".,;:(\"“”".contains(c) {
            return None;
        }
    }
    None
}

fn opens_predicate(text: &str) -> bool {
    let text = text.strip_prefix(['"', '”']).unwrap_or(text);
    let rest = text.trim_start();
    if rest.starts_with(['(', ',']) {
        return true;
    }
    let verb = rest.split(char::is_whitespace).next().unwrap_or_default();
    // A verb at the very end of a text has no white space after it, and nothing to say.
    rest.len() < text.len() && rest.len() > verb.len() && VERBS.contains(&verb)
}

/// Returns the quoted work that a text opens with.
#[must_use]
pub(super) fn quoted_lead(text: &str) -> Option<&str> {
    let inside = after_headings(text).strip_prefix(['"', '“'])?;
    let end = inside.find(['"', '“', '”'])?;
    let (quoted, rest) = inside.split_at_checked(end)?;
    let has_length = (2..=QUOTED_CHARS_MAX).contains(&quoted.chars().count());
    (has_length && !rest.starts_with('“')).then(|| quoted.trim_end_matches(','))
}

/// Returns the names of a document with this title and text, each once with its strongest kind.
///
/// A name is its folded words joined by one space. A document without a title that opens with a name of three to five
/// words bears the first and the last of them too, as people are called.
#[must_use]
pub(crate) fn bearer_names(title: Option<&str>, text: &str) -> Vec<(String, NameKind)> {
    let mut names = Vec::new();
    if let Some(title) = title {
        push_name(title, NameKind::Title, &mut names);
        let bare = strip_parenthesis(title);
        push_name(bare, NameKind::BareTitle, &mut names);
        if let Some((before, _)) = bare.split_once(',') {
            push_name(before, NameKind::BeforeComma, &mut names);
        }
    }
    if let Some(lead) = lead_name(text) {
        push_name(lead, NameKind::Lead, &mut names);
        if let Some(short) = first_and_last(lead).filter(|_| title.is_none()) {
            push_name(&short, NameKind::Lead, &mut names);
        }
    }
    if let Some(quoted) = quoted_lead(text) {
        push_name(quoted, NameKind::Lead, &mut names);
    }
    names
}

/// Adds a name under its key, unless it is none or is there already: kinds come strongest first.
fn push_name(name: &str, kind: NameKind, names: &mut Vec<(String, NameKind)>) {
    if let Some(key) = key_of(name).filter(|key| names.iter().all(|(known, _)| known != key)) {
        names.push((key, kind));
    }
}

/// Returns the key of a name, unless it is none: too short, too long, or nothing but stop words.
pub(super) fn key_of(name: &str) -> Option<String> {
    let words = tokens(name);
    let is_short = words.len() == 1 && words.iter().any(|word| word.chars().count() < 3);
    let is_name = !is_short && words.len() <= NAME_WORDS_MAX && !words.iter().all(|word| is_stop_word(word));
    is_name.then(|| words.join(" "))
}

/// Returns the first and last word of a name of a person with words between.
fn first_and_last(name: &str) -> Option<String> {
    let words = words(name);
    let [first, _, .., last] = words.as_slice() else { return None };
    let is_person = words.len() <= 5
        && words.iter().all(|word| word.is_capitalized() && word.text.chars().all(char::is_alphabetic))
        && !["The", "A", "An"].contains(&first.text);
    is_person.then(|| format!("{} {}", first.text, last.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parenthesis_at_the_end_is_not_part_of_a_title() {
        for (title, expect) in [
            ("Elmham (Bishop)", "Elmham"),
            ("Elmham", "Elmham"),
            ("(What's the Story) Morning", "(What's the Story) Morning"),
            ("A (b) (c) ", "A (b)"),
            ("A (b))", "A (b))"),
            ("(B)", ""),
        ] {
            assert_eq!(strip_parenthesis(title), expect, "{title}");
        }
    }

    #[test]
    fn the_subject_of_a_first_sentence_is_a_name_where_it_is_capitalized() {
        for (text, expect) in [
            ("Teutberga( died 11 November 875) was a queen.", Some("Teutberga")),
            ("Lambert, Margrave of Tuscany", Some("Lambert")),
            ("The Lord of the Rings is a book.", Some("The Lord of the Rings")),
            ("\"Hello Again\" is a song.", Some("Hello Again")),
            ("In 1990, he left.", None),
            ("He was born.", None),
            ("The main idea of many people, here", None),
            ("Short text without a verb", None),
            ("no capital is here", None),
            ("It is", None),
            ("Čapek was", None),
            ("# The mill\n\n## Today\n\nHarl Mill is a ruin.", Some("Harl Mill")),
            ("#", None),
            ("Notes\n\nHarl is a mill.", None),
        ] {
            assert_eq!(lead_name(text), expect, "{text}");
        }
    }

    #[test]
    fn a_text_may_open_with_a_quoted_work() {
        assert_eq!(quoted_lead(" “Hello, You,” is a song"), Some("Hello, You"));
        assert_eq!(quoted_lead("# Hello\n\n\"Hello\" is a song"), Some("Hello"));
        assert_eq!(quoted_lead("Hello \"You\""), None);
        assert_eq!(quoted_lead("\"H\" is"), None);
    }

    #[test]
    fn a_document_has_each_name_once_with_its_strongest_kind() {
        use NameKind::{BareTitle, BeforeComma, Lead, Title};
        let check = |title, text, expect: &[(&str, NameKind)]| {
            let names = bearer_names(title, text);
            assert_eq!(names.iter().map(|(name, kind)| (name.as_str(), *kind)).collect::<Vec<_>>(), expect);
        };
        check(
            Some("Žatec, Bohemia (town)"),
            "Žatec is a town.",
            &[("zatec bohemia town", Title), ("zatec bohemia", BareTitle), ("zatec", BeforeComma)],
        );
        check(None, "John Quincy Adams was it.", &[("john quincy adams", Lead), ("john adams", Lead)]);
        check(Some("Song"), "\"Song of Songs\" is", &[("song", Title), ("song of songs", Lead)]);
        check(Some("It"), "", &[]);
    }
}
