//! What kind of text a candidate is, whatever the question: prose, a list, a table, code, a list of contents.

use crate::graph::trail::TextFit;
use crate::text::{is_stop_word, lower, tokens, words};

/// Bytes of a text that are examined: its kind shows early.
const LOOKED_AT: usize = 1_200;
/// Words in names of documents that list the contents of others.
const LISTINGS: [&str; 18] = [
    "changelog",
    "changes",
    "relnotes",
    "history",
    "news",
    "license",
    "licence",
    "copying",
    "copyright",
    "contents",
    "toc",
    "index",
    "genindex",
    "authors",
    "contributors",
    "credits",
    "thanks",
    "todo",
];

/// Returns the features of a text that say of what kind it is; the others are 0.
pub(super) fn text_form(text: &str) -> TextFit {
    let end = (0..=LOOKED_AT.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let looked_at = &text[..end];
    let lower = lower(looked_at);
    let words = words(&lower);
    let stop_words = words.iter().filter(|word| is_stop_word(word.text)).count();
    let lines: Vec<&str> = looked_at.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let bulleted = lines.iter().filter(|line| is_item(line)).count();
    let visible = looked_at.chars().filter(|it| !it.is_whitespace()).count();
    let letters = looked_at.chars().filter(|it| it.is_alphabetic()).count();
    let share = |part: usize, whole: usize| part as f32 / whole.max(1) as f32;
    TextFit {
        prose: share(stop_words, words.len()),
        letters: share(letters, visible),
        line_words: share(words.len(), lines.len()) / 20.0,
        bulleted: share(bulleted, lines.len()),
        length: text.len() as f32 / 1_536.0,
        ..TextFit::default()
    }
}

/// Returns whether a line begins as an item of a list or a row of a table does.
fn is_item(line: &str) -> bool {
    let rest = line.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
    line.starts_with(['-', '*', '+', '|', '•', '#', ':'])
        || rest.len() < line.len() && !rest.starts_with(char::is_alphabetic)
}

/// Returns whether a document or section of this name lists the contents of others.
pub(super) fn is_listing(name: &str) -> bool {
    tokens(name).iter().any(|word| LISTINGS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_has_stop_words_and_long_lines_and_contents_have_items() {
        let prose = text_form("The heron stands in the water and waits for the fish that it is going to eat.");
        let contents = text_form("- Herons\n- Fish\n- Water\n1. Standing\n1.2. Waiting");
        assert!(prose.prose > 0.4 && prose.line_words > 0.5 && prose.bulleted < 0.1, "{prose:?}");
        assert!(contents.prose < 0.1 && contents.line_words < 0.2 && contents.bulleted > 0.9, "{contents:?}");
    }

    #[test]
    fn change_logs_and_licences_are_recognized_by_their_names() {
        assert!(is_listing("docs/CHANGELOG.md") && is_listing("LICENSE-APACHE") && is_listing("Guide › Contents"));
        assert!(!is_listing("docs/guide.md"));
    }
}
