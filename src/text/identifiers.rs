//! Identifiers: names that programs, standards and their users write, such as `wal_level`, `gc.reflogExpire`,
//! `--no-verify`, `std::env::var`, `/etc/fstab`, `RFC 2119`.

use std::ops::Range;

use super::fold::push_folded;
use super::words::{Word, words};

/// An identifier in a text, folded and in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identifier {
    /// All of it without the marks between its words, but for hyphens or underscores that it begins with and points
    /// between digits; none of a word in camel case, which is whole as it is.
    pub(super) whole: Option<String>,
    /// The humps of its words in camel case.
    pub(super) parts: Vec<String>,
    /// Its bytes, with the marks before it that belong to it.
    pub(super) span: Range<usize>,
}

/// Letters of a hump at least, so that `McDonald` has none.
const HUMP_CHARS_MIN: usize = 3;
/// Words of an identifier at most; longer ones are data.
const WORDS_MAX: usize = 12;
/// Bytes of an identifier at most.
const BYTES_MAX: usize = 120;
/// Marks that an identifier may begin with.
const LEADS: [u8; 5] = *b"-/.~_";
/// Letters of the name of a series at most: `RFC 2119`, `CVE-2021-44228`.
const SERIES_CHARS_MAX: usize = 6;

/// Returns the identifiers of `text`, in order.
///
/// Complexity: linear in the text.
#[must_use]
pub(super) fn identifiers(text: &str) -> Vec<Identifier> {
    identifiers_among(text, &words(text))
}

/// As [`identifiers`], from the words of `text`.
#[must_use]
pub(super) fn identifiers_among(text: &str, words: &[Word<'_>]) -> Vec<Identifier> {
    if !may_have_some(text) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut first = 0;
    while first < words.len() {
        let mut end = first + 1;
        while end < words.len() && is_joined(text, &words[end - 1], &words[end]) {
            end += 1;
        }
        if end > first + 1 || may_stand_alone(text, &words[first]) {
            found.extend(identifier(text, &words[first..end]));
        }
        found.extend(in_series(text, words, first..end));
        first = end;
    }
    found
}

/// Returns whether there is anything in `text` that identifiers are known by.
fn may_have_some(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| match pair[0] {
        b'_' | b'.' | b':' | b'/' | b'-' | b'@' => !pair[1].is_ascii_whitespace(),
        first => first.is_ascii_alphabetic() && pair[1].is_ascii_uppercase(),
    })
}

/// Returns whether a word may be an identifier by itself: it follows a mark, or has capitals inside.
fn may_stand_alone(text: &str, word: &Word<'_>) -> bool {
    let before = text.as_bytes().get(..word.start).and_then(|it| it.last());
    before.is_some_and(|it| LEADS.contains(it)) || has_capitals_inside(word.text)
}

/// Returns whether two words stand in one identifier by what is between them.
fn is_joined(text: &str, before: &Word<'_>, after: &Word<'_>) -> bool {
    let gap = text.get(before.end..after.start).unwrap_or_default();
    matches!(gap, "_" | "__" | "." | "::" | "/" | "-" | "@" | "/." | "/_" | "._" | ".__" | "::_" | "~" | "-_")
}

/// Returns the identifier that the words of `run` make up, if they do.
fn identifier(text: &str, run: &[Word<'_>]) -> Option<Identifier> {
    let (first, last) = (run.first()?, run.last()?);
    let parts: Vec<String> = run.iter().flat_map(|word| humps(word.text)).collect();
    let lead = lead(text, first.start);
    let is_short = run.len() <= WORDS_MAX && last.end - first.start <= BYTES_MAX;
    let whole = (is_short && is_identifier(text.get(first.start..last.end)?, run, lead)).then(|| {
        let mut whole = if lead.starts_with(['-', '_']) { lead.to_owned() } else { String::new() };
        let only_digits = run.iter().all(|word| word.text.bytes().all(|byte| byte.is_ascii_digit()));
        for (i, word) in run.iter().enumerate() {
            if i > 0 && only_digits {
                whole.push('.');
            }
            push_folded(word.text, &mut whole);
        }
        whole
    });
    let span = first.start - lead.len()..last.end;
    (whole.is_some() || !parts.is_empty()).then_some(Identifier { whole, parts, span })
}

/// Returns the marks right before an identifier that belong to it: hyphens of an option, the root of a path.
fn lead(text: &str, start: usize) -> &str {
    let before = text.get(..start).unwrap_or_default();
    let marks = before.trim_end_matches(LEADS.map(char::from));
    let lead = before.get(marks.len()..).unwrap_or_default();
    let opens = marks.chars().next_back().is_none_or(|c| c.is_whitespace() || "`'\"([{|=,<>‘“*+".contains(c));
    let is_lead = matches!(lead, "-" | "--" | "/" | "./" | "../" | "~/" | "__" | "_" | "/." | "~/." | ".");
    if opens && is_lead { lead } else { "" }
}

fn is_identifier(text: &str, run: &[Word<'_>], lead: &str) -> bool {
    let is_option = lead == "--" || (lead == "-" && run[0].text.starts_with(|c: char| c.is_ascii_alphabetic()));
    let has_digits = |word: &Word<'_>| word.text.bytes().any(|byte| byte.is_ascii_digit());
    let is_long = |word: &Word<'_>| word.end - word.start > 1;
    if is_option || lead.starts_with('_') || text.contains('_') || text.contains("::") {
        return true;
    }
    if run.len() < 2 {
        return false;
    }
    if text.contains('/') {
        return !lead.is_empty() || text.matches('/').count() > 1 || text.contains('.');
    }
    if text.contains('.') || text.contains('@') {
        // Not `e.g.`, not `U.S.`, and no two sentences that lack a space between.
        let is_split =
            |pair: &[Word<'_>]| pair[0].text.len() > 3 && !pair[0].is_capitalized() && pair[1].is_capitalized();
        return run.iter().any(is_long) && !run.windows(2).any(is_split);
    }
    // A hyphen joins words of prose: what is left has letters and then digits, as `utf-8` has.
    run[0].text.bytes().all(|byte| byte.is_ascii_alphabetic()) && run[1..].iter().all(has_digits)
}

/// Returns the name of a document of a series, such as `RFC 2119`, that begins with the only word of `run`.
fn in_series(text: &str, words: &[Word<'_>], run: Range<usize>) -> Option<Identifier> {
    let (name, number) = (words.get(run.start)?, words.get(run.end)?);
    let is_name = run.len() == 1
        && (2..=SERIES_CHARS_MAX).contains(&name.text.len())
        && name.text.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_number = number.text.bytes().all(|byte| byte.is_ascii_digit());
    let is_beside = text.get(name.end..number.start) == Some(" ");
    (is_name && is_number && is_beside).then(|| Identifier {
        whole: Some(name.text.to_ascii_lowercase() + number.text),
        parts: Vec::new(),
        span: name.start..number.end,
    })
}

fn has_capitals_inside(word: &str) -> bool {
    word.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
}

/// Returns the humps of a word in camel case, in lower case: `reflog`, `expire` of `reflogExpire`; none of others.
pub(super) fn humps(word: &str) -> Vec<String> {
    let bytes = word.as_bytes();
    if !has_capitals_inside(word) || !word.is_ascii() || !bytes.iter().any(u8::is_ascii_lowercase) {
        return Vec::new();
    }
    let begins = |at: usize| {
        let (before, here) = (bytes[at - 1], bytes[at]);
        let after_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        here.is_ascii_uppercase() && (before.is_ascii_lowercase() || (before.is_ascii_uppercase() && after_is_lower))
    };
    let mut bounds = vec![0];
    bounds.extend((1..bytes.len()).filter(|at| begins(*at)));
    bounds.push(bytes.len());
    let humps = bounds.windows(2).filter_map(|bound| word.get(bound[0]..bound[1]));
    let humps: Vec<String> = humps.filter(|hump| hump.len() >= HUMP_CHARS_MIN).map(str::to_ascii_lowercase).collect();
    if humps.len() < 2 { Vec::new() } else { humps }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wholes: &[&str], parts: &[&str]) {
        let found = identifiers(text);
        let (whole, part): (Vec<_>, Vec<_>) = found.into_iter().map(|it| (it.whole, it.parts)).unzip();
        assert_eq!(whole.into_iter().flatten().collect::<Vec<_>>(), wholes, "{text}");
        assert_eq!(part.concat(), parts, "{text}");
    }

    #[test]
    fn words_joined_by_marks_are_one_identifier() {
        check("set wal_level=minimal, or walLevel", &["wallevel"], &["wal", "level"]);
        check("std::env::var and __init__", &["stdenvvar", "__init"], &[]);
        check("in /etc/apt/sources.list or ~/.bashrc", &["etcaptsourceslist"], &[]);
        check("git log --all -p x-y", &["--all", "-p"], &[]);
        check("Python 3.11 in UTF-8, me@example.org", &["3.11", "utf8", "meexampleorg"], &[]);
        check("RFC 2119, PEP 8 and ISO-8859-1", &["rfc2119", "pep8", "iso88591"], &[]);
    }

    #[test]
    fn humps_are_parts() {
        check("HTTPServer.getElementById", &["httpservergetelementbyid"], &["http", "server", "get", "element"]);
        check("YouTube McDonald iPhone", &[], &["you", "tube"]);
    }

    #[test]
    fn prose_is_left_alone() {
        check("A 19-year-old film-maker and/or the U.S. one, e.g. here.There", &[], &[]);
        check("It ended. – So it did: a - b; 1990-91", &[], &[]);
    }
}
