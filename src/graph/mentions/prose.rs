//! What of a text is prose, in which capitals tell names: no comments of markup, no headings in common words, no
//! placeholders of usage lines.

use std::borrow::Cow;
use std::cell::LazyCell;

use rustc_hash::FxHashSet;

use crate::text::{FoldedWords, Run, is_stop_word, prose_runs, tokens, words};

/// What a comment of markup begins and ends with.
const COMMENT: (&str, &str) = ("<!--", "-->");
/// Words of a command at most: `git remote add`.
const COMMAND_WORDS_MAX: usize = 3;
/// Signs of a line that underlines a heading at least.
const UNDERLINE_CHARS_MIN: usize = 3;

/// Returns a text with blanks for comments of markup: no reader sees them.
pub(super) fn without_comments(text: &str) -> Cow<'_, str> {
    let (opening, closing) = COMMENT;
    let mut shown = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(opening) {
        // One that nothing closes is spoken of, as is one in code.
        let Some(length) = rest[start..].find(closing).map(|it| it + closing.len()) else { break };
        let (before, comment) = (&rest[..start], &rest[start..start + length]);
        shown.push_str(before);
        if before.ends_with('`') {
            shown.push_str(comment);
        } else {
            shown.extend(comment.chars().flat_map(blanks));
        }
        rest = &rest[start + length..];
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// Returns as many blanks as a character has bytes; line ends stay.
fn blanks(it: char) -> impl Iterator<Item = char> {
    std::iter::repeat_n(if matches!(it, '\n' | '\r') { it } else { ' ' }, it.len_utf8())
}

/// Returns the names that the capitals of a text tell.
pub(super) fn named_runs(text: &str, folded: &FoldedWords<'_>, is_common: &dyn Fn(&str) -> bool) -> Vec<Run> {
    let mut runs = prose_runs(text, folded, is_common);
    let placeholders = LazyCell::new(|| placeholders(text));
    runs.retain(|run| {
        let written = text.get(run.start..run.end).unwrap_or_default();
        let is_placeholder = || words(written).iter().all(|it| placeholders.contains(it.text));
        !(is_label(text, run, is_common) || is_shouted(written) && is_placeholder())
    });
    runs
}

/// Returns whether a run is a heading in common words, which has its capitals from its place: `See Also`.
fn is_label(text: &str, run: &Run, is_common: &dyn Fn(&str) -> bool) -> bool {
    let is_of_common = || run.key.split(' ').all(|word| is_stop_word(word) || is_common(word));
    if !run.key.contains(' ') || !is_of_common() {
        return false;
    }
    let start = text.get(..run.start).and_then(|before| before.rfind('\n')).map_or(0, |line_break| line_break + 1);
    let mut lines = text.get(start..).unwrap_or_default().lines();
    let (line, below) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default().trim_end());
    let Some((before, after)) = line.get(..run.start - start).zip(line.get(run.end - start..)) else { return false };
    let is_whole =
        words(after).is_empty() && words(before).iter().all(|it| tokens(it.text).iter().all(|it| is_stop_word(it)));
    let signs = line.len() - line.trim_start_matches('#').len();
    let is_heading = (1..=6).contains(&signs) && line[signs..].starts_with([' ', '\t']);
    let is_underlined = below.len() >= UNDERLINE_CHARS_MIN
        && below.chars().next().is_some_and(|sign| "=-~^".contains(sign) && below.chars().all(|it| it == sign));
    is_whole && (is_heading || is_underlined)
}

/// Returns whether the quotation that opens in a name goes on after it, and the name only begins with the word before:
/// `the "Software` of `(the "Software")`.
pub(super) fn is_torn(written: &str) -> bool {
    let Some((before, quoted)) = written.split_once(['"', '“', '„', '«']) else { return false };
    !before.contains(char::is_uppercase) && !before.is_empty() && !quoted.contains(['"', '”', '“', '»'])
}

/// Returns whether all letters are capitals.
fn is_shouted(written: &str) -> bool {
    written.contains(char::is_uppercase) && !written.contains(char::is_lowercase)
}

/// Returns the words in capitals that stand for arguments in the usage lines of a text, and in the code of it that
/// looks like them: `cp FILE DEST`.
fn placeholders(text: &str) -> FxHashSet<&str> {
    let mut found = FxHashSet::default();
    let (mut is_fenced, mut is_apart) = (false, true);
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_fenced = !is_fenced;
            continue;
        }
        let is_moved_in = line.starts_with("    ") || line.starts_with('\t');
        let arguments = arguments(trimmed, is_fenced || (is_moved_in && is_apart));
        is_apart = trimmed.is_empty() || !arguments.is_empty();
        found.extend(arguments);
        if !is_fenced {
            // What no second back quote ends is no code.
            let pieces: Vec<&str> = trimmed.split('`').collect();
            let codes = pieces.array_windows().skip(1).step_by(2).map(|[code, _]| *code);
            found.extend(codes.flat_map(|code| self::arguments(code, true)));
        }
    }
    found
}

/// Returns the words in capitals of a usage line: a command, then nothing but options, brackets and such words. What
/// is not code has options.
fn arguments(line: &str, is_code: bool) -> Vec<&str> {
    let marked = ["usage:", "or:", "$ "].iter().find_map(|mark| {
        let (start, rest) = line.split_at_checked(mark.len())?;
        start.eq_ignore_ascii_case(mark).then_some(rest)
    });
    let is_code = is_code || marked.is_some();
    let (mut commands, mut has_options, mut found) = (0, false, Vec::new());
    for token in marked.unwrap_or(line).split_whitespace() {
        let is_option = is_option(token);
        let is_group = is_code && token.starts_with(['[', '<', '{', '(']) && !token.contains("](");
        if is_option || is_group || is_shouted(token) {
            has_options |= is_option;
            let capitals = words(token).into_iter().map(|it| it.text);
            found.extend(capitals.filter(|it| it.chars().nth(1).is_some() && is_shouted(it)));
        } else if token.contains(char::is_alphanumeric) {
            commands += 1;
            if !found.is_empty() || has_options || commands > COMMAND_WORDS_MAX || !is_command(token) {
                return Vec::new();
            }
        }
    }
    if has_options || (is_code && commands > 0) { found } else { Vec::new() }
}

/// Returns whether a word of a usage line is an option, perhaps in a bracket: `-x`, `[--all]`.
fn is_option(token: &str) -> bool {
    let option = token.trim_start_matches(['[', '{', '(']).strip_prefix('-').unwrap_or_default();
    let name = option.strip_prefix('-').unwrap_or(option).trim_end_matches([']', '}', ')']);
    name.starts_with(|it: char| it.is_ascii_lowercase()) || (name.len() == 1 && name.starts_with(char::is_alphabetic))
}

/// Returns whether a word may be of a command: in lower case and not of prose alone.
fn is_command(token: &str) -> bool {
    let name = token.trim_matches(['\'', '*', '_', '"']);
    name.starts_with(|it: char| it.is_lowercase() || "./".contains(it))
        && name.chars().all(|it| it.is_alphanumeric() || "-_./+:".contains(it))
        && !is_stop_word(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_of_markup_is_no_prose() {
        for (text, expect) in [
            ("a", "a"),
            ("<!-- Äda\nLund -->\nHarl <!----> x", "         \n        \nHarl         x"),
            ("Harl <!-- Ada Lund", "Harl <!-- Ada Lund"),
            ("`<!-- Ada -->` and <!-- x -->", "`<!-- Ada -->` and           "),
        ] {
            assert_eq!(without_comments(text), expect);
            assert_eq!(without_comments(text).len(), text.len());
        }
    }

    fn check(text: &str, expect: &[&str]) {
        let is_common =
            |word: &str| ["see", "getting", "started", "low", "tide", "usage", "call", "use"].contains(&word);
        let runs = named_runs(text, &FoldedWords::of(text), &is_common);
        assert_eq!(runs.iter().map(|run| run.key.as_str()).collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn a_heading_in_common_words_is_no_name() {
        check("## See Also\n\nAda Lund", &["ada lund"]);
        check("See Also\n--------\n\nThe Getting Started\n===\n", &[]);
        check("# Getting Started #\n\n## Ada Lund\n\n## See Ada\n", &["ada lund", "see ada"]);
        check("They saw Low Tide\n\n## Low Tide and more\n\nLow Tide\n\n#Low Tide", &["low tide"; 4]);
    }

    #[test]
    fn a_placeholder_of_a_usage_line_is_no_name() {
        for usage in [
            "    cp ORIGIN DEST",
            "Usage: cp [OPTION]... ORIGIN DEST",
            "usage:\n    cp [-a | --all] -t DEST\n       or: cp ORIGIN...",
            "``` \ncp --to=DEST ORIGIN\n```",
            "Call `cp [--force] ORIGIN DEST` for it.",
            "'git cp' [--all] ORIGIN\n\t[--to DEST]",
            "$ cp <file> ORIGIN DEST",
        ] {
            check(&format!("{usage}\n\nA ORIGIN and a DEST, as NATO has."), &["nato"]);
        }
        for prose in [
            "joined the NATO",
            "- NATO",
            "    NATO",
            "joined [NATO]",
            "joined `NATO`",
            "    which joined, as\n    joined NATO",
            "Use --force as NATO",
            "see [NATO](x.md)",
            "`of NATO`",
        ] {
            check(&format!("{prose}\n\nIt met the NATO here."), &vec!["nato"; 1 + usize::from(!prose.contains('`'))]);
        }
    }

    #[test]
    fn a_name_is_torn_where_a_quotation_begins_in_it() {
        assert!(["the \"Software", "the “Software"].into_iter().all(is_torn));
        assert!(!["the Software", "The \"Heroes", "Heroes\" (song", "the \"Low\" Tide"].into_iter().any(is_torn));
    }
}
