//! The exact parts of a query: phrases in quotation marks, and a regular expression between slashes.

use std::ops::Range;

use regex::{Regex, RegexBuilder};

use super::literal::literal_in;
use crate::error::{Error, Result};
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal};
use crate::query::session::query::Query;
use crate::store::{GraphReader, Scan, TextField};
use crate::text::{Compared, Phrase};

/// Phrases of a query at most; further ones are words.
const PHRASES_MAX: usize = 8;
/// Bytes of a compiled regular expression at most.
const REGEX_BYTES_MAX: usize = 1 << 20;
/// Places of a text that are marked at most.
const SPANS_MAX: usize = 1_000;
/// The quotation marks around a phrase.
const QUOTES: [(char, char); 3] = [('"', '"'), ('“', '”'), ('„', '“')];

/// How a query is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum QuerySyntax {
    /// As a question: quotation marks and slashes say nothing.
    #[default]
    Question,
    /// Search syntax: phrases in quotation marks must occur in each passage found, and a query between slashes is a
    /// regular expression.
    Search,
}

/// The exact parts of a query.
#[derive(Debug, Clone, Default)]
pub(in crate::query) struct Exact {
    /// Phrases in quotation marks.
    pub(in crate::query) phrases: Vec<Phrase>,
    /// The regular expression that it is, with what every match has.
    pub(in crate::query) scan: Option<Scan>,
}

impl Exact {
    /// Reads a query; nothing is word for word in a question.
    ///
    /// # Errors
    ///
    /// [`Error::Question`] for a regular expression that cannot be read, or is too large.
    pub(in crate::query) fn of(query: &str, syntax: QuerySyntax) -> Result<Self> {
        if syntax == QuerySyntax::Question {
            return Ok(Self::default());
        }
        Ok(match scan(query).transpose()? {
            Some(scan) => Self { phrases: Vec::new(), scan: Some(scan) },
            None => Self { phrases: phrases(query), scan: None },
        })
    }

    /// Returns where `text` contains the exact parts, in order.
    pub(in crate::query) fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let found = self.scan.iter().flat_map(|scan| scan.regex.find_iter(text));
        found.map(|found| found.range()).filter(|span| !span.is_empty()).take(SPANS_MAX).collect()
    }
}

/// Returns the phrases in quotation marks of a query.
fn phrases(query: &str) -> Vec<Phrase> {
    let mut phrases = Vec::new();
    let mut rest = query;
    while let Some((at, (open, close))) =
        rest.char_indices().find_map(|(at, c)| Some((at, *QUOTES.iter().find(|(open, _)| *open == c)?)))
    {
        let Some(inside) = rest.get(at + open.len_utf8()..) else { break };
        let Some((phrase, after)) = inside.split_once(close) else { break };
        phrases.extend(Phrase::of(phrase).filter(|_| phrases.len() < PHRASES_MAX));
        rest = after;
    }
    phrases
}

/// Returns the regular expression that a query is, without its slashes; `/…/i` does not tell capitals from small
/// letters.
///
/// # Errors
///
/// [`Error::Question`] for one that cannot be read, or is too large.
fn scan(query: &str) -> Option<Result<Scan>> {
    let inside = query.strip_prefix('/')?;
    let (pattern, is_insensitive) = match inside.strip_suffix("/i") {
        Some(pattern) => (pattern, true),
        None => (inside.strip_suffix('/')?, false),
    };
    if pattern.is_empty() {
        return None;
    }
    let built = RegexBuilder::new(pattern)
        .case_insensitive(is_insensitive)
        .multi_line(true)
        .size_limit(REGEX_BYTES_MAX)
        .dfa_size_limit(REGEX_BYTES_MAX)
        .build();
    let literal = if is_insensitive { String::new() } else { literal_in(pattern) };
    Some(built.map(|regex| Scan { regex, literal }).map_err(|error| {
        let said = error.to_string();
        let said = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
        Error::Question { reason: format!("the regular expression cannot be read: {said}") }
    }))
}

/// How a note begins that says that no passage has a phrase.
pub const NO_PHRASE: &str = "no passage has";

/// Keeps of the passages that may be shown those that have every phrase, in their text or in the title of their
/// document; `allowed` is which they are, where not all are.
///
/// Complexity: the texts of the passages that have every term of the phrases are read.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn with_phrases(
    reader: &dyn GraphReader,
    phrases: &[Phrase],
    allowed: Option<Vec<bool>>,
) -> Result<Option<Vec<bool>>> {
    let graph = reader.graph();
    let mut allowed = allowed.unwrap_or_else(|| vec![true; graph.passage_count()]);
    for term in phrases.iter().flat_map(Phrase::terms) {
        let mut has = vec![false; allowed.len()];
        reader.postings(TextField::Passage, &term, &mut |passage, _| has[passage as usize] = true)?;
        allowed.iter_mut().zip(has).for_each(|(allowed, has)| *allowed &= has);
    }
    let candidates: Vec<PassageOrdinal> = graph.passages().filter(|passage| allowed[passage.index()]).collect();
    reader.prepare(&candidates)?;
    for passage in candidates {
        let text = Compared::of(&reader.passage(passage)?.text);
        let mut elsewhere = phrases.iter().filter(|phrase| !phrase.is_in(&text)).peekable();
        if elsewhere.peek().is_some() {
            let title = reader.document(graph.passage_document[passage])?.title.unwrap_or_default();
            let title = Compared::of(&title);
            allowed[passage.index()] = elsewhere.all(|phrase| phrase.is_in(&title));
        }
    }
    Ok(Some(allowed))
}

/// Returns the passages in which a regular expression matches, those with most matches first, and how many there are.
///
/// Complexity: a pass over all texts.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn matching(
    query: &Query,
    regex: &Regex,
    count: usize,
) -> Result<(Vec<(PassageOrdinal, f32)>, usize)> {
    let reader = query.reader.as_ref();
    let mut found = Vec::new();
    for passage in reader.graph().passages().filter(|it| query.is_allowed(*it)) {
        let matches = regex.find_iter(&reader.passage(passage)?.text).count();
        if matches > 0 {
            found.push((passage, matches as f32));
        }
    }
    let all = found.len();
    Ok((crate::graph::top::best(found, count), all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_stand_in_quotation_marks() {
        let written = |query| phrases(query).into_iter().map(|phrase| phrase.written).collect::<Vec<_>>();
        assert_eq!(written("the \"Heron  Bridge\" of “Örebro” and \"open"), ["Heron Bridge", "Örebro"]);
        assert_eq!(written("no quotes, \"\" and \"--\""), [""; 0]);
        assert_eq!(phrases(&"\"mill\"".repeat(2 * PHRASES_MAX)).len(), PHRASES_MAX);
    }

    #[test]
    fn a_query_between_slashes_is_a_regular_expression() {
        let read = |query| scan(query).unwrap().unwrap();
        assert!(read("/gc\\.\\w+Expire/").regex.is_match("gc.reflogExpire"));
        assert!(read("/Mill/i").regex.is_match("a mill"));
        assert_eq!([read("/Mill/").literal, read("/Mill/i").literal], ["Mill", ""]);
        assert!(scan("and/or").is_none() && scan("/").is_none() && scan("//").is_none());
        let error = scan("/(/").unwrap().expect_err("no expression").to_string();
        assert!(error.contains("regular expression") && !error.contains('\n'), "{error}");
        assert!(scan("/(\\w{1000}){1000}/").unwrap().is_err());
    }
}
