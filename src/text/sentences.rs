//! Where sentences begin and end. It misses some ends after abbreviations, and never loses a character.

use std::ops::Range;

/// Words before a full stop that do not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "st", "jr", "sr", "prof", "rev", "gen", "col", "lt", "capt", "sgt", "hon", "no", "vol",
    "inc", "ltd", "co", "corp", "vs", "etc", "e.g", "i.e", "fr", "bros", "op", "ft", "feat", "c", "ca", "approx",
    "u.s", "d.c",
];

/// Digits of a list number at most; with more it is rather a year at the beginning of a line.
const LIST_DIGITS_MAX: usize = 3;
/// Number signs of a heading at most.
const LEVELS_MAX: usize = 6;

/// Returns the spans of the sentences of `text`, in order, trimmed: what lies between them is white space.
///
/// A sentence ends at a full stop, exclamation or question mark before white space and a capital letter or digit, at
/// a full stop of a script without capitals, at a blank line, and where a heading, list item or table row begins or a
/// heading ends.
///
/// Complexity: linear in the text.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    // A sentence begins at a character that is no white space: none is looked at again at each line break.
    let mut start = skip(text, 0, char::is_whitespace);
    std::iter::from_fn(move || {
        while start < text.len() {
            let end = end_of_sentence(text, start);
            let sentence = trimmed(text, start..end);
            start = skip(text, end, char::is_whitespace);
            if sentence.is_some() {
                return sentence;
            }
        }
        None
    })
}

/// Returns where the sentence from `start` ends.
fn end_of_sentence(text: &str, start: usize) -> usize {
    let mut at = start;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let next = at + c.len_utf8();
        let end = match c {
            '.' | '!' | '?' => end_after_stop(text, start, at),
            '。' | '！' | '？' | '｡' | '।' | '॥' | '؟' | '۔' => Ending::At(skip(text, next, is_closing)),
            '\n' if ends_block(text, start, at) => Ending::At(at),
            _ => Ending::GoOn(next),
        };
        match end {
            Ending::GoOn(next) => at = next,
            Ending::At(end) => return end,
        }
    }
    text.len()
}

enum Ending {
    /// The sentence continues; look on from here.
    GoOn(usize),
    /// The sentence ends here.
    At(usize),
}

/// Judges the full stop, exclamation or question mark at `stop` in a sentence from `start`.
fn end_after_stop(text: &str, start: usize, stop: usize) -> Ending {
    let end = skip(text, stop + 1, is_closing);
    let next = skip(text, end, char::is_whitespace);
    if next == end {
        return Ending::GoOn(stop + 1);
    }
    let ahead = text.get(next..).unwrap_or_default();
    let ahead = ahead.strip_prefix(is_opening).unwrap_or(ahead);
    if !ahead.starts_with(|c: char| c.is_uppercase() || c.is_numeric()) {
        return Ending::GoOn(stop + 1);
    }
    let before = text.get(start..stop).unwrap_or_default();
    let is_full_stop = text.get(stop..).is_some_and(|rest| rest.starts_with('.'));
    if is_full_stop && (is_list_number(before) || ends_abbreviated(before)) {
        // White space is left to be judged: a blank line ends the sentence all the same.
        return Ending::GoOn(end);
    }
    Ending::At(end)
}

fn ends_abbreviated(before: &str) -> bool {
    let last = before.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
    let word = last.trim_matches(['(', '"', '\'', '[', '“', '‘']).to_lowercase();
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    is_initial || ABBREVIATIONS.contains(&word.as_str()) || is_dotted(&word)
}

/// Returns whether `word` is letters between full stops, such as `b.b.c`.
fn is_dotted(word: &str) -> bool {
    word.len() > 1 && word.split('.').all(|part| part.len() == 1 && part.bytes().all(|it| it.is_ascii_lowercase()))
}

fn is_list_number(sentence: &str) -> bool {
    let number = sentence.trim();
    (1..=LIST_DIGITS_MAX).contains(&number.len()) && number.bytes().all(|it| it.is_ascii_digit())
}

/// Returns whether the line break at `at` ends a block of text, and with it the sentence from `start`.
fn ends_block(text: &str, start: usize, at: usize) -> bool {
    let below = text.get(at + 1..).unwrap_or_default();
    let next_line = below.split_once('\n').map(|(line, _)| line);
    let is_blank = next_line.is_some_and(|line| line.trim_start_matches([' ', '\t', '\r']).is_empty());
    let sentence = text.get(start..at).unwrap_or_default();
    // No more than the next line is looked at: a text of line breaks would be read once for each of them otherwise.
    is_blank || is_block_start(next_line.unwrap_or(below)) || is_heading(sentence)
}

/// Returns whether a line begins a block of its own: a heading, a list item, a table row.
#[must_use]
pub(crate) fn is_block_start(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t']);
    if ["- ", "* ", "+ ", "• ", "|"].iter().any(|mark| line.starts_with(mark)) || is_heading(line) {
        return true;
    }
    let digits = line.bytes().take(LIST_DIGITS_MAX + 1).take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..).unwrap_or_default();
    (1..=LIST_DIGITS_MAX).contains(&digits) && (rest.starts_with(". ") || rest.starts_with(") "))
}

fn is_heading(line: &str) -> bool {
    let line = line.trim_start();
    // One more than a heading has tells enough: the sentence in hand may begin with millions.
    let signs = line.bytes().take(LEVELS_MAX + 1).take_while(|byte| *byte == b'#').count();
    (1..=LEVELS_MAX).contains(&signs) && line.get(signs..).is_some_and(|rest| rest.starts_with([' ', '\t']))
}

fn is_closing(c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '」' | '』' | '）')
}

fn is_opening(c: char) -> bool {
    matches!(c, '"' | '\'' | '(' | '[' | '“' | '‘' | '«')
}

/// Returns where the characters from `at` on stop being such.
fn skip(text: &str, at: usize, is_such: fn(char) -> bool) -> usize {
    text.get(at..).map_or(text.len(), |rest| text.len() - rest.trim_start_matches(is_such).len())
}

fn trimmed(text: &str, span: Range<usize>) -> Option<Range<usize>> {
    let raw = text.get(span.clone()).unwrap_or_default();
    let start = span.start + raw.len() - raw.trim_start().len();
    let trimmed = raw.trim();
    (!trimmed.is_empty()).then(|| start..start + trimmed.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(sentences(text).map(|span| &text[span]).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn sentences_end_at_stops_before_capitals_but_not_after_abbreviations() {
        check("", &[]);
        check(" \n ", &[]);
        check("One. Two! \"Three?\" Four.", &["One.", "Two!", "\"Three?\"", "Four."]);
        check("He met Dr. Smith and J. Doe in D.C. There.", &["He met Dr. Smith and J. Doe in D.C. There."]);
        check("It cost 3.5 million. then more. 12 came.", &["It cost 3.5 million. then more.", "12 came."]);
        check("the lay- abbot of St. Maurice's Abbey. ", &["the lay- abbot of St. Maurice's Abbey."]);
        check("Fin. Über alles. “Ja.” Он. Она.", &["Fin.", "Über alles.", "“Ja.”", "Он.", "Она."]);
    }

    #[test]
    fn blank_lines_items_and_headings_end_sentences() {
        check("# Title\nText goes\non. More", &["# Title", "Text goes\non.", "More"]);
        check("no stop\n\nnext by Dr.\n \nSmith", &["no stop", "next by Dr.", "Smith"]);
        check("list:\n- one\n- two\n1. Three\n2) Four", &["list:", "- one", "- two", "1. Three", "2) Four"]);
        check("a\r\n\r\nb", &["a", "b"]);
    }

    /// Searching backwards at each line break would take years for these.
    #[test]
    fn no_line_break_looks_far() {
        let many = |part: &str| part.repeat(1 << 20);
        for (text, count) in [(many("\u{b}\n"), 0), (many("#") + &many("\na"), 1), (many("\n1"), 1)] {
            assert_eq!(sentences(&text).count(), count);
        }
    }

    #[test]
    fn full_stops_of_scripts_without_capitals_end_sentences() {
        check("東京は首都。「大きい。」次！", &["東京は首都。", "「大きい。」", "次！"]);
        check("यह है। वह है।", &["यह है।", "वह है।"]);
    }

    /// Prose with the marks that end sentences, or anything.
    const TEXT: &str = "[ \\n\\t.!?。A-Za-z0-9\"'(#é|-]{0,60}|\\PC{0,40}";

    proptest! {
        #[test]
        fn every_character_but_white_space_lies_in_one_sentence(text in TEXT) {
            let mut at = 0;
            for span in sentences(&text) {
                prop_assert!(at <= span.start && span.start < span.end);
                prop_assert!(text[at..span.start].trim().is_empty());
                prop_assert_eq!(text[span.clone()].trim(), &text[span.clone()]);
                at = span.end;
            }
            prop_assert!(text[at..].trim().is_empty());
        }
    }
}
