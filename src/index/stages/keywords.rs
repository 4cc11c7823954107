//! Keywords of questions and of passages, numbered in order. What the last version has is taken over by number.

use std::sync::Arc;

use super::difference::Difference;
use super::vectors::Field;
use crate::graph::ordinal::{Column, IncomingOrdinal, KeywordOrdinal, Ordinal, OutgoingOrdinal, Position, Rows};
use crate::graph::packed::{PackedGraph, PassageGraph, TextList, back_to_back};
use crate::graph::segments::GONE;
use crate::index::corpus::Corpus;

/// What the last version knows of the keywords of a corpus.
pub(super) struct KnownKeywords<'a> {
    graph: PassageGraph<'a>,
    texts: TextList<'a, KeywordOrdinal>,
    /// The number that each question had there, or [`GONE`].
    incoming: Vec<u32>,
    outgoing: Vec<u32>,
}

/// The same of one side.
pub(super) struct KnownSide<'k, K> {
    pub(super) before: &'k [u32],
    texts: TextList<'k, KeywordOrdinal>,
    rows: Rows<'k, K, Position>,
    numbers: Column<'k, Position, KeywordOrdinal>,
}

impl<'a> KnownKeywords<'a> {
    pub(super) fn of(corpus: &Corpus<'_>, difference: Option<&Difference<'a>>) -> Self {
        let before = |field, count| {
            let mut before = vec![GONE; count];
            for (was, is) in difference.map(|it| it.taken(field)).unwrap_or_default() {
                before[is as usize] = was;
            }
            before
        };
        let graph = difference.map(|it| it.graph).unwrap_or_default();
        Self {
            graph,
            texts: TextList::of(graph.keyword_ends, graph.keyword_texts.items()),
            incoming: before(Field::Incoming, corpus.incoming.len()),
            outgoing: before(Field::Outgoing, corpus.outgoing.len()),
        }
    }

    pub(super) fn incoming(&self) -> KnownSide<'_, IncomingOrdinal> {
        let graph = &self.graph;
        KnownSide {
            texts: self.texts,
            before: &self.incoming,
            rows: graph.incoming_keywords,
            numbers: graph.incoming_keyword,
        }
    }

    pub(super) fn outgoing(&self) -> KnownSide<'_, OutgoingOrdinal> {
        let graph = &self.graph;
        KnownSide {
            texts: self.texts,
            before: &self.outgoing,
            rows: graph.outgoing_keywords,
            numbers: graph.outgoing_keyword,
        }
    }
}

impl<'k, K: Ordinal> KnownSide<'k, K> {
    /// Returns the keywords of a question as the last version numbers them, if it is taken from there.
    pub(super) fn keywords(&self, before: u32) -> Option<&'k [KeywordOrdinal]> {
        (before != GONE).then(|| self.numbers.of(self.rows.of(K::new(before))))
    }

    /// Returns how many keywords the questions of this side have in the last version.
    pub(super) fn keyword_count(&self) -> usize {
        self.numbers.len()
    }

    /// Returns what a keyword of the last version says.
    pub(super) fn text(&self, keyword: KeywordOrdinal) -> &'k str {
        self.texts.get(keyword)
    }

    /// Notes which keywords of the last version are needed.
    fn note_needed(&self, is_needed: &mut [bool]) {
        let numbers = self.before.iter().filter_map(|before| self.keywords(*before));
        numbers.flatten().for_each(|it| is_needed[it.index()] = true);
    }
}

/// Keywords of both sides and of passages, numbered in order.
pub(super) struct KeywordTable {
    /// The number now of each of the last version that is needed still.
    pub(super) now: Vec<KeywordOrdinal>,
    /// The number of each that was read.
    pub(super) added: Vec<KeywordOrdinal>,
    /// Their texts, one after the other, and where each ends.
    pub(super) ends: Vec<u32>,
    pub(super) texts: Vec<u8>,
}

impl KeywordTable {
    /// Numbers the keywords of all questions, those that were `read` and the others, which are known, and the names of
    /// all entities in `packed`.
    pub(super) fn of(read: &[Arc<str>], known: &KnownKeywords<'_>, packed: &PackedGraph) -> Self {
        let mut is_needed = vec![false; known.graph.keyword_ends.len()];
        known.incoming().note_needed(&mut is_needed);
        known.outgoing().note_needed(&mut is_needed);
        let mut added: Vec<(&str, usize)> = read.iter().map(|it| &**it).zip(0..).collect();
        added.sort_unstable();
        let needed = || known.graph.keyword_ends.ordinals().filter(|it| is_needed[it.index()]);
        let side = known.incoming();
        let graph = packed.view();
        let names = graph.names();
        let entities = graph.entity_name_ends.ordinals().map(|entity| names.get(entity));
        let mut texts: Vec<&str> =
            needed().map(|it| side.text(it)).chain(entities).chain(added.iter().map(|it| it.0)).collect();
        sort_runs(&mut texts);
        texts.dedup();
        let numbering = || {
            let mut next = 0;
            let texts = &texts;
            move |text: &str| {
                next += texts[next..].iter().take_while(|it| **it < text).count();
                // Only a forged version has texts that are not in order.
                let is_next = texts.get(next) == Some(&text);
                KeywordOrdinal::at(if is_next { next } else { texts.binary_search(&text).unwrap_or_default() })
            }
        };
        let (mut number, mut now) = (numbering(), vec![KeywordOrdinal(GONE); is_needed.len()]);
        needed().for_each(|it| now[it.index()] = number(side.text(it)));
        let (mut number, mut numbers) = (numbering(), vec![KeywordOrdinal(GONE); read.len()]);
        for (text, it) in &added {
            numbers[*it] = number(text);
        }
        let (ends, texts) = back_to_back(&texts);
        Self { now, added: numbers, ends, texts }
    }
}

/// Sorts a few lists that are each in order, one after the other.
#[expect(clippy::stable_sort_primitive, reason = "a stable sort merges them, others begin anew")]
fn sort_runs(texts: &mut [&str]) {
    texts.sort();
}
