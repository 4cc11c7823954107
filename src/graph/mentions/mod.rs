//! Names and mentions: the entities of layer 0, by rule, over a whole corpus.
//!
//! A document bears names: its title, its title cut at a parenthesis or comma, the subject of its first sentence. A
//! passage mentions the names of the corpus and what it capitalizes. A few words around each mention are kept: they
//! say how the passage speaks of the entity. Frequencies and bearers count documents, so that splitting one changes
//! nothing.

mod find;
mod pack;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::packed::PackedGraph;
use crate::domain::Span;
use crate::text::{CaseCounts, NameKind, bearer_names};
use find::{Finder, PassageMentions};
use pack::Found;

/// Passages whose mentions are found together.
const BLOCK: usize = 4_096;

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
}

/// The names of a corpus, by folded words.
pub(super) struct Names {
    cases: CaseCounts,
    /// Bearers of each name: document and how.
    bearers: FxHashMap<String, Vec<(u32, NameKind)>>,
    /// The most words of a name that begins with each word.
    longest: FxHashMap<String, usize>,
}

/// Fills the parts of `packed` that hold documents, passages, sentences, entities and mentions, and returns where in
/// its passage each mention stands, by mention.
///
/// Complexity: linear in the text, beside sorting the entities.
pub fn pack_mentions(documents: &[NamedDocument<'_>], packed: &mut PackedGraph) -> Vec<Span> {
    let names = Names::of(documents);
    let passages: Vec<NamedPassage<'_>> = documents.iter().flat_map(|document| document.passages.clone()).collect();
    let finder = Finder::new(&names);
    let mut found = Found::of(&names);
    // What a passage says by its own strings is many times what it says by numbers: it is numbered block by block.
    for block in passages.chunks(BLOCK) {
        let mentions: Vec<PassageMentions> = block.par_iter().map(|passage| finder.mentions(passage)).collect();
        for mentions in mentions {
            found.add(mentions);
        }
    }
    pack::structure(documents, packed);
    pack::mentions(&names, found, packed)
}

impl Names {
    fn of(documents: &[NamedDocument<'_>]) -> Self {
        let count = |mut cases: CaseCounts, document: &NamedDocument<'_>| {
            document.passages.iter().for_each(|passage| cases.add(passage.text));
            cases
        };
        let merge = |mut cases: CaseCounts, other| {
            cases.merge(other);
            cases
        };
        let cases = documents.par_iter().fold(CaseCounts::default, count).reduce(CaseCounts::default, merge);
        let mut bearers: FxHashMap<String, Vec<(u32, NameKind)>> = FxHashMap::default();
        let mut longest: FxHashMap<String, usize> = FxHashMap::default();
        for (number, document) in documents.iter().enumerate() {
            let lead = document.passages.first().map_or("", lead_text);
            for (key, kind) in bearer_names(document.title, lead) {
                let (first, words) = (key.split(' ').next().unwrap_or_default(), key.split(' ').count());
                let most = longest.entry(first.to_owned()).or_default();
                *most = words.max(*most);
                bearers.entry(key).or_default().push((number as u32, kind));
            }
        }
        Self { cases, bearers, longest }
    }
}

/// Returns the text of a passage from its first sentence that is no heading.
fn lead_text<'a>(passage: &NamedPassage<'a>) -> &'a str {
    let mut sentences = passage.sentences.iter();
    let first = sentences.find(|sentence| !sentence.of(passage.text).starts_with('#'));
    first.and_then(|sentence| passage.text.get(sentence.start as usize..)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
