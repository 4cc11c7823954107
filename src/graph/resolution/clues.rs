//! What documents say of names, kept for the next version: a document that has the same text and the same names need
//! not be read again.

use super::Reason;
use super::standing::{Cue, borne, is_titled};
use super::within::Link;
use crate::graph::mentions::{NameStatistics, PackedNameStatistics};
use crate::graph::ordinal::{DocumentOrdinal, EntityOrdinal, Ordinal as _, PassageOrdinal, SentenceOrdinal};
use crate::graph::packed::PassageGraph;
use crate::graph::segments::GONE;
use crate::text::NameType;

/// What a document says of names.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    pub(super) links: Vec<Link>,
    pub(super) cues: Vec<Cue>,
    /// Its names, in order.
    pub(super) names: Vec<EntityOrdinal>,
    /// Those that its title has.
    pub(super) titled: Vec<EntityOrdinal>,
}

/// What documents say of names, in the order of documents.
#[derive(Debug, Default, PartialEq)]
pub struct Clues(pub(super) Vec<Found>);

impl Clues {
    /// Keeps them with what names were found by.
    pub fn keep(&self, kept: &mut PackedNameStatistics) {
        (kept.document_links, kept.document_cues) = (vec![0], vec![0]);
        for Found { links, cues, .. } in &self.0 {
            for (name, other, reason) in links {
                kept.link_name.push(*name);
                kept.link_other.push(*other);
                kept.link_reason.push(*reason as u32);
            }
            for (name, kind, sentence) in cues {
                kept.cue_name.push(*name);
                kept.cue_type.push(*kind as u32);
                kept.cue_sentence.push(*sentence);
            }
            kept.document_links.push(kept.link_name.len() as u32);
            kept.document_cues.push(kept.cue_name.len() as u32);
        }
    }
}

/// What an earlier version has.
#[derive(Debug, Clone, Copy)]
pub struct EarlierClues<'a> {
    /// Its names and mentions.
    pub graph: PassageGraph<'a>,
    /// What its documents say of names.
    pub statistics: NameStatistics<'a>,
    /// For each of its passages, what it is now, ascending, whole documents at a time; or [`GONE`].
    pub passages: &'a [u32],
}

/// What an earlier version has of the documents of a graph.
pub(super) struct KnownClues<'a> {
    earlier: EarlierClues<'a>,
    graph: &'a PassageGraph<'a>,
    /// What each name of the earlier version is now.
    names: Vec<Option<EntityOrdinal>>,
    /// What each document was.
    before: Vec<Option<DocumentOrdinal>>,
}

impl<'a> KnownClues<'a> {
    pub(super) fn of(graph: &'a PassageGraph<'a>, earlier: EarlierClues<'a>) -> Self {
        let mut before = vec![None; graph.document_count()];
        for document in earlier.graph.documents() {
            let passages = earlier.graph.document_passages.of(document);
            let mut now = passages.map(|passage| earlier.passages.get(passage.index()).copied().unwrap_or(GONE));
            if let Some(same) = now.next().and_then(|now| graph.passage_document.find(PassageOrdinal(now))) {
                before[same.index()] = Some(document);
            }
        }
        Self { earlier, graph, names: graph.entities_of(&earlier.graph), before }
    }

    /// Returns what a document says, if the earlier version knows: it has the same text, names and mentions there.
    pub(super) fn found(&self, document: DocumentOrdinal) -> Option<Found> {
        let before = self.before[document.index()]?;
        let own = self.own(document, before)?;
        let mut found =
            Found { titled: own.iter().filter(|it| is_titled(it.1)).map(|it| it.0).collect(), ..Found::default() };
        found.names.extend(own.iter().map(|it| it.0));
        self.add_mentions(document, before, &mut found.names)?;
        found.names.sort_unstable();
        found.names.dedup();
        found.titled.sort_unstable();
        let kept = &self.earlier.statistics;
        for at in kept.document_links.of(before) {
            let [name, other] = [kept.link_name[at], kept.link_other[at]].map(|name| self.now(name));
            found.links.push((name?, other?, Reason::of_code(kept.link_reason[at])?));
        }
        let [first, now] =
            [(&self.earlier.graph, before), (self.graph, document)].map(|(graph, document)| sentences(graph, document));
        for at in kept.document_cues.of(before) {
            let place = kept.cue_sentence[at].0.checked_sub(first.start).filter(|it| *it < now.end - now.start)?;
            let kind = NameType::of_code(kept.cue_type[at])?;
            found.cues.push((self.now(kept.cue_name[at])?, kind, SentenceOrdinal(now.start + place)));
        }
        let mut clues = found.links.iter().flat_map(|it| [it.0, it.1]).chain(found.cues.iter().map(|it| it.0));
        // Only a forged version has clues to names that are not in the document.
        clues.all(|name| found.names.binary_search(&name).is_ok()).then_some(found)
    }

    /// Returns the names that a document has itself, each with how it has it, if they are those of before.
    fn own(&self, document: DocumentOrdinal, before: DocumentOrdinal) -> Option<Vec<(EntityOrdinal, u32)>> {
        let earlier = &self.earlier.graph;
        let (were, are) = (earlier.document_own.of(before), self.graph.document_own.of(document));
        let mut own = Vec::with_capacity(are.len());
        if were.len() != are.len() {
            return None;
        }
        for (was, is) in were.zip(are) {
            let (was, is) = (earlier.own_entity[was], self.graph.own_entity[is]);
            let kind = borne(self.graph, is, document);
            if self.now(was) != Some(is) || borne(earlier, was, before) != kind {
                return None;
            }
            own.push((is, kind?));
        }
        Some(own)
    }

    /// Adds the names that a document mentions, if its mentions are those of before.
    fn add_mentions(
        &self,
        document: DocumentOrdinal,
        before: DocumentOrdinal,
        names: &mut Vec<EntityOrdinal>,
    ) -> Option<()> {
        let (earlier, graph) = (&self.earlier.graph, self.graph);
        let (were, are) = (earlier.document_passages.of(before), graph.document_passages.of(document));
        if were.len() != are.len() {
            return None;
        }
        for (was, is) in were.zip(are) {
            let (mentioned, mentions) = (earlier.passage_mentions.of(was), graph.passage_mentions.of(is));
            let first = earlier.passage_sentences.of(was).range().start;
            let now = graph.passage_sentences.of(is).range().start;
            if mentioned.len() != mentions.len() {
                return None;
            }
            for (was, is) in mentioned.zip(mentions) {
                let name = graph.mention_entity[is];
                let is_there =
                    earlier.mention_sentence[was].index() + now == graph.mention_sentence[is].index() + first;
                if !is_there || self.now(earlier.mention_entity[was]) != Some(name) {
                    return None;
                }
                names.push(name);
            }
        }
        Some(())
    }

    fn now(&self, name: EntityOrdinal) -> Option<EntityOrdinal> {
        self.names[name.index()]
    }
}

/// Returns the sentences of a document.
fn sentences(graph: &PassageGraph<'_>, document: DocumentOrdinal) -> std::ops::Range<u32> {
    let mut passages = graph.document_passages.of(document);
    let first = passages.next();
    let last = passages.next_back().or(first);
    let range = |passage| graph.passage_sentences.of(passage).range();
    let (start, end) = (first.map_or(0, |it| range(it).start), last.map_or(0, |it| range(it).end));
    start as u32..end as u32
}
