//! Names and mentions: the entities of layer 0, by rule, over a whole corpus; and those that a model found.
//!
//! A document bears names: its title, its title cut at a parenthesis or comma, the subject of its first sentence and
//! its other names there; without title and subject, what it capitalizes most, and first. A
//! passage mentions the names of the corpus and what it capitalizes. A few words around each mention are kept: they
//! say how the passage speaks of the entity. Frequencies and bearers count documents, so that splitting one changes
//! nothing.

mod difference;
mod find;
mod kept;
mod kept_rows;
mod pack;
mod prose;

use std::borrow::Cow;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::packed::PackedGraph;
use crate::domain::{Cancellation, Extraction, Span};
use crate::error::Result;
use crate::text::{CaseCounts, FoldedWords, Language, NameKind, aliases, bearer_names, lead_name};
pub use difference::EarlierNames;
use find::{Finder, PassageMentions};
pub use kept::{NameStatistics, PackedNameStatistics};
use pack::Found;
pub use pack::pack_structure;

/// Documents that may bear a name by their capitals alone.
const BY_CAPITALS_MAX: usize = 12;
/// Passages whose words are counted together, and whose mentions are found together.
const BLOCK: usize = 4_096;
/// Mentions of a document at most: each passage has an even share of them.
pub const MENTIONS_MAX: usize = 524_288;
/// Mentions that a passage may have in any document.
const PASSAGE_MENTIONS_MIN: usize = 2;

/// A document as names are found in it.
#[derive(Debug, Clone)]
pub struct NamedDocument<'a> {
    /// Its title, where it counts as a name.
    pub title: Option<&'a str>,
    /// Its passages, at least one.
    pub passages: Vec<NamedPassage<'a>>,
}

/// A passage as names are found in it.
#[derive(Debug, Clone, Copy)]
pub struct NamedPassage<'a> {
    /// Its text.
    pub text: &'a str,
    /// Its sentences, as spans in `text`.
    pub sentences: &'a [Span],
    /// The media type of its document: of source code, comments alone name anything.
    pub media_type: &'a str,
    /// What a model found in it, if one was asked.
    pub extraction: Option<&'a Extraction>,
}

impl<'a> NamedPassage<'a> {
    /// Returns whether it is source code.
    #[must_use]
    pub fn is_code(&self) -> bool {
        Language::of_media_type(self.media_type).is_some()
    }

    /// Returns its text, with blanks for what is no prose.
    pub(super) fn prose(&self) -> Cow<'a, str> {
        match Language::of_media_type(self.media_type) {
            Some(language) => Cow::Owned(crate::text::prose(self.text, language)),
            None => prose::without_comments(self.text),
        }
    }
}

/// Documents that bear each name, ascending, and how.
type ByName = FxHashMap<String, Vec<(u32, NameKind)>>;

/// The names of a corpus, by folded words.
pub(super) struct Names {
    cases: CaseCounts,
    bearers: ByName,
    /// What too many documents bear by their capitals alone.
    shared: ByName,
    /// The most words of a name that begins with each word.
    longest: FxHashMap<String, usize>,
}

/// The mentions of a corpus beside the graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mentioned {
    /// Who found each mention, by mention: bits of [`origin`](super::descriptions::origin). Empty where no model found
    /// any.
    pub origins: Vec<u8>,
    /// What they were found by, for the next version.
    pub statistics: PackedNameStatistics,
}

/// Fills the parts of `packed` that hold documents, passages, sentences, entities and mentions.
///
/// What an `earlier` version has saves work and changes nothing: mentions are looked for in passages that it does not
/// have, and in those in which a name or a word is used otherwise now. It is of no use where a model found names.
///
/// Complexity: linear in the text, beside sorting the entities; with an earlier version, in what has changed, beside
/// passing over all words once.
///
/// # Errors
///
/// [`Error::Cancelled`](crate::Error::Cancelled) once a stop was asked for.
pub fn pack_mentions(
    documents: &[NamedDocument<'_>],
    packed: &mut PackedGraph,
    earlier: Option<&EarlierNames<'_>>,
    cancellation: &Cancellation,
) -> Result<Mentioned> {
    pack_structure(documents, packed);
    let mut passages: Vec<(NamedPassage<'_>, usize)> = Vec::new();
    for document in documents {
        let share = (MENTIONS_MAX / document.passages.len().max(1)).max(PASSAGE_MENTIONS_MIN);
        passages.extend(document.passages.iter().map(|passage| (*passage, share)));
    }
    let by_rule_alone = passages.iter().all(|(passage, _)| passage.extraction.is_none());
    if let Some(earlier) = earlier.filter(|it| by_rule_alone && it.is_of_use(passages.len())) {
        return difference::pack(documents, &passages, packed, earlier, cancellation);
    }
    let cases = count_cases(passages.iter().map(|it| it.0), cancellation)?;
    cancellation.check()?;
    let statistics = PackedNameStatistics::of_cases(&cases);
    let cases = cases.without_names();
    let mut bearers = ByName::default();
    let names: Vec<Vec<(String, NameKind)>> = documents.par_iter().map(|document| names_of(document, &cases)).collect();
    for (names, number) in names.into_iter().zip(0..) {
        for (key, kind) in names {
            bearers.entry(key).or_default().push((number, kind));
        }
    }
    let names = Names::of_bearers(cases, bearers);
    let finder = Finder::new(&names);
    let mut found = Found::of(&names);
    // What a passage says by its own strings is many times what it says by numbers: it is numbered block by block.
    for block in passages.chunks(BLOCK) {
        cancellation.check()?;
        let mentions = block.par_iter().map(|(passage, most)| finder.mentions(passage, *most));
        for mentions in mentions.collect::<Vec<PassageMentions>>() {
            found.add(mentions);
        }
    }
    let mut mentioned = pack::mentions(&names, found, statistics, packed);
    if by_rule_alone {
        mentioned.origins = Vec::new();
    }
    Ok(mentioned)
}

/// Counts how often passages write words how.
fn count_cases<'a>(
    passages: impl Iterator<Item = NamedPassage<'a>>,
    cancellation: &Cancellation,
) -> Result<CaseCounts> {
    let count = |mut cases: CaseCounts, passage: &NamedPassage<'_>| {
        cases.add(&passage.prose());
        cases
    };
    let merge = |mut cases: CaseCounts, other| {
        cases.merge(other);
        cases
    };
    let passages: Vec<NamedPassage<'_>> = passages.collect();
    let mut cases = CaseCounts::default();
    // Block by block: counts of many words are held once, and not by every thread.
    for block in passages.chunks(BLOCK) {
        cancellation.check()?;
        let counted = block.par_iter().fold(CaseCounts::default, count);
        cases.merge(counted.reduce(CaseCounts::default, merge));
    }
    Ok(cases)
}

/// Returns the names that a document bears, each once with its strongest kind.
fn names_of(document: &NamedDocument<'_>, cases: &CaseCounts) -> Vec<(String, NameKind)> {
    let Some(passage) = document.passages.first() else { return Vec::new() };
    if passage.is_code() {
        return bearer_names(document.title, "");
    }
    let text = &*passage.prose();
    let lead = lead_text(passage, text);
    let mut names = bearer_names(document.title, lead);
    let mut add = |key: String, kind| {
        if names.iter().all(|(known, _)| *known != key) {
            names.push((key, kind));
        }
    };
    if let Some(name) = lead_name(lead).or(document.title) {
        let first = first_sentence(passage, text).map(|sentence| sentence.of(text));
        for key in aliases(name, first.unwrap_or_default()) {
            add(key, NameKind::Lead);
        }
    } else {
        for (key, kind) in by_capitals(passage, text, cases) {
            add(key, kind);
        }
    }
    names
}

/// Returns what a passage without title and subject is about, as far as its capitals tell: the name that it has most
/// often, at least twice, and then that which it has first.
fn by_capitals(passage: &NamedPassage<'_>, text: &str, cases: &CaseCounts) -> Vec<(String, NameKind)> {
    let runs = prose::named_runs(text, &FoldedWords::of(text), &|word| cases.is_common(word));
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for run in &runs {
        match counts.iter_mut().find(|(key, _)| *key == run.key) {
            Some((_, count)) => *count += 1,
            None => counts.push((&run.key, 1)),
        }
    }
    let words = |key: &str| key.split(' ').count();
    // The first of equals.
    let most = counts.iter().rev().max_by_key(|(key, count)| (*count, words(key)));
    let mut names = Vec::new();
    if let Some((key, _)) = most.filter(|(_, count)| *count >= 2) {
        names.push(((*key).to_owned(), NameKind::Main));
    }
    let ends = passage.sentences.first().map_or(0, |sentence| sentence.end as usize);
    names.extend(runs.first().filter(|run| run.start < ends).map(|run| (run.key.clone(), NameKind::First)));
    names
}

/// Returns the first sentence of a passage that is no heading, by its prose.
fn first_sentence(passage: &NamedPassage<'_>, prose: &str) -> Option<Span> {
    let is_told = |sentence: &&Span| {
        let told = sentence.of(prose).trim_start();
        !told.is_empty() && !told.starts_with('#')
    };
    passage.sentences.iter().find(is_told).copied()
}

/// Returns the prose of a passage from its first sentence that is no heading.
fn lead_text<'a>(passage: &NamedPassage<'_>, prose: &'a str) -> &'a str {
    let first = first_sentence(passage, prose);
    first.and_then(|sentence| prose.get(sentence.start as usize..)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
