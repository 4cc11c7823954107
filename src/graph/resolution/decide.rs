//! Decides which candidate names are names of one entity.

use std::cmp::Reverse;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::clues::{Clues, EarlierClues, Found, KnownClues};
use super::groups::Groups;
use super::shared::Shared;
use super::standing::{DocumentNames, is_titled};
use super::types::Types;
use super::within::{Link, links};
use super::{PackedResolution, Reason, across};
use crate::domain::{Cancellation, NamePair, NameVerdict};
use crate::error::Result;
use crate::graph::mentions::NamedDocument;
use crate::graph::ordinal::{DocumentOrdinal, EntityOrdinal, Ordinal as _, SentenceOrdinal};
use crate::graph::packed::PassageGraph;
use crate::text::without_honorific;

/// Documents that are read together.
const BLOCK: usize = 1_024;
/// Minimum letters of an acronym that keeps its meaning in documents that do not expand it.
const ACRONYM_LETTERS_MIN: usize = 3;

/// Returns which names of a graph, built from `documents`, stand for one entity, and the types of entities, and what
/// the documents say of names. Merges and splits by hand override all rules; pairs with a missing name do not count.
///
/// What an `earlier` version has saves work and changes nothing: documents are read that it does not have, or not with
/// the same names.
///
/// # Errors
///
/// [`Error::Cancelled`](crate::error::Error::Cancelled) if a stop was asked for.
///
/// # Complexity
///
/// O(text + mentions + names · log names) time.
pub fn pack_resolution(
    graph: PassageGraph<'_>,
    documents: &[NamedDocument<'_>],
    (asked, earlier): (&[NamePair], Option<EarlierClues<'_>>),
    cancellation: &Cancellation,
) -> Result<(PackedResolution, Clues)> {
    let found = read(&graph, documents, earlier, cancellation)?;
    let types = Types::of(&graph, found.iter().flat_map(|it| it.cues.iter().copied()));
    let shared = Shared::of(&graph);
    cancellation.check()?;
    let mut decision = Decision { graph, types, shared, apart: pairs(&graph, asked, NameVerdict::Apart) };
    let mut packed = PackedResolution::of_names(graph.entity_documents.len());
    decision.everywhere(&found, &pairs(&graph, asked, NameVerdict::Same), &mut packed);
    cancellation.check()?;
    decision.in_documents(&found, &mut packed, cancellation)?;
    decision.types(&mut packed);
    Ok((packed, Clues(found)))
}

fn read(
    graph: &PassageGraph<'_>,
    documents: &[NamedDocument<'_>],
    earlier: Option<EarlierClues<'_>>,
    cancellation: &Cancellation,
) -> Result<Vec<Found>> {
    let known = earlier.map(|it| KnownClues::of(graph, it));
    let mut found = Vec::with_capacity(documents.len());
    for (block, first) in documents.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
        cancellation.check()?;
        let of_document = |(at, document): (usize, &NamedDocument<'_>)| {
            let number = DocumentOrdinal::at(first + at);
            let known = known.as_ref().and_then(|it| it.found(number));
            known.unwrap_or_else(|| read_document(graph, number, document))
        };
        found.par_extend(block.par_iter().enumerate().map(of_document));
    }
    Ok(found)
}

fn read_document(graph: &PassageGraph<'_>, number: DocumentOrdinal, document: &NamedDocument<'_>) -> Found {
    let read = DocumentNames::of(graph, number, document);
    let titled = read.names.iter().filter(|it| it.borne.is_some_and(is_titled)).map(|it| it.entity).collect();
    let names = read.names.iter().map(|it| it.entity).collect();
    Found { links: links(&read), cues: read.cues, names, titled }
}

fn pairs(graph: &PassageGraph<'_>, asked: &[NamePair], verdict: NameVerdict) -> Vec<(EntityOrdinal, EntityOrdinal)> {
    let of_verdict = asked.iter().filter(|pair| pair.verdict == verdict);
    of_verdict.filter_map(|pair| Some((graph.entity(&pair.one)?, graph.entity(&pair.other)?))).collect()
}

struct Decision<'a> {
    graph: PassageGraph<'a>,
    types: Types,
    shared: Shared,
    /// Names that stay apart.
    apart: Vec<(EntityOrdinal, EntityOrdinal)>,
}

impl Decision<'_> {
    /// Merges names that stand for one entity everywhere.
    fn everywhere(&mut self, found: &[Found], same: &[(EntityOrdinal, EntityOrdinal)], packed: &mut PackedResolution) {
        let mut groups = Groups::new(packed.entity_canonical.len(), &self.apart);
        for (one, other) in same {
            groups.join(*one, *other, Reason::Asked);
        }
        let (spellings, alike) = rayon::join(|| across::spellings(&self.graph), || across::alike(&self.graph));
        let links = spellings.into_iter().chain(self.agreed(found)).chain(alike);
        for (one, other, reason) in links {
            if !self.shared.contains(one) && !self.shared.contains(other) && !self.differ(one, other, reason) {
                groups.join(one, other, reason);
            }
        }
        let several = groups.several();
        let things: Vec<EntityOrdinal> = several.iter().map(|names| self.standing_for(names)).collect();
        for (names, thing) in several.iter().zip(&things) {
            for name in names {
                packed.entity_canonical[name.index()] = *thing;
            }
        }
        for (name, (beside, reason)) in groups.merged_with(&things) {
            (packed.entity_beside[name.index()], packed.entity_reason[name.index()]) = (beside, reason as u32);
        }
    }

    /// Returns whether two names are of different types, or documents with different titles are about them, so that no
    /// likeness makes them one.
    fn differ(&self, one: EntityOrdinal, other: EntityOrdinal, reason: Reason) -> bool {
        let is_likeness = matches!(reason, Reason::Initials | Reason::Misspelling);
        let is_titled = |name| {
            let bearers = self.graph.entity_bearers.of(name);
            bearers.into_iter().any(|bearer| is_titled(self.graph.bearer_kind[bearer]))
        };
        self.types.differ(one, other) || (is_likeness && is_titled(one) && is_titled(other))
    }

    /// Returns what documents say of names on which all agree that say anything of them.
    fn agreed(&self, found: &[Found]) -> Vec<Link> {
        let mut said: Vec<Link> = found.iter().flat_map(|it| it.links.iter().copied()).collect();
        said.retain(|(name, _, reason)| match reason {
            // One word says too little to be the same in other documents.
            Reason::Document => self.graph.entity_name(*name).contains(' '),
            Reason::Parenthesis => self.graph.entity_name(*name).chars().count() >= ACRONYM_LETTERS_MIN,
            _ => false,
        });
        said.sort_unstable();
        let of_name = said.chunk_by(|a, b| a.0 == b.0);
        let agreed = of_name.filter(|same| same.iter().all(|it| it.1 == same[0].1)).map(|same| same[0]);
        agreed.filter(|(name, _, _)| self.is_borne_once(*name)).collect()
    }

    /// Returns whether a name is distinctive enough to mean the same in all documents: at most one document has it.
    fn is_borne_once(&self, name: EntityOrdinal) -> bool {
        self.graph.entity_bearers.of(name).len() <= 1 && self.shared.is_telling(&self.graph, name)
    }

    /// Returns the name that stands for an entity: preferably one in a title, without an honorific, with the most words
    /// and letters, the first. It depends on no count, so it stays as documents are added and removed.
    fn standing_for(&self, names: &[EntityOrdinal]) -> EntityOrdinal {
        let graph = &self.graph;
        let rank = |name: &&EntityOrdinal| {
            let mut bearers = graph.entity_bearers.of(**name);
            let is_borne = bearers.any(|bearer| is_titled(graph.bearer_kind[bearer]));
            let folded = graph.entity_name(**name);
            let is_honored = without_honorific(folded).is_some();
            (!is_borne, is_honored, Reverse(folded.split(' ').count()), Reverse(folded.chars().count()), **name)
        };
        names.iter().min_by_key(rank).copied().unwrap_or_default()
    }

    /// Determines what names stand for in some documents only.
    fn in_documents(&self, found: &[Found], packed: &mut PackedResolution, cancellation: &Cancellation) -> Result<()> {
        let mut meant = self.shared.meant(&self.graph, cancellation)?;
        meant.sort_unstable();
        let apart: FxHashMap<EntityOrdinal, Vec<EntityOrdinal>> = self.apart_things(packed);
        cancellation.check()?;
        let things = &*packed;
        let of_document = |number: usize, of_document: &Found| {
            let number = DocumentOrdinal::at(number);
            let first = meant.partition_point(|it| it.0 < number);
            let meant = meant[first..].iter().take_while(|it| it.0 == number);
            let meant = meant.map(|(_, name, thing)| (*name, *thing, Reason::Bearer));
            let links: Vec<Link> = meant.chain(of_document.links.iter().copied()).collect();
            let there = self.things_in(of_document, &links, &apart, things);
            there.into_iter().map(move |(name, thing, reason)| (name, number, thing, reason))
        };
        let mut scoped: Vec<(EntityOrdinal, DocumentOrdinal, EntityOrdinal, Reason)> = Vec::new();
        for (block, first) in found.chunks(BLOCK).zip((0..).step_by(BLOCK)) {
            cancellation.check()?;
            scoped.par_extend(block.par_iter().enumerate().flat_map_iter(|(at, found)| of_document(first + at, found)));
        }
        scoped.par_sort_unstable();
        for (name, document, thing, reason) in scoped {
            packed.entity_scoped[name.index() + 1] += 1;
            packed.scoped_document.push(document);
            packed.scoped_canonical.push(thing);
            packed.scoped_reason.push(reason as u32);
        }
        for at in 1..packed.entity_scoped.len() {
            packed.entity_scoped[at] += packed.entity_scoped[at - 1];
        }
        Ok(())
    }

    /// Returns, for each name and entity, those that stay apart from it.
    fn apart_things(&self, packed: &PackedResolution) -> FxHashMap<EntityOrdinal, Vec<EntityOrdinal>> {
        let mut apart: FxHashMap<EntityOrdinal, Vec<EntityOrdinal>> = FxHashMap::default();
        for (one, other) in &self.apart {
            let things = [one, other].map(|it| packed.entity_canonical[it.index()]);
            for (one, other) in [(*one, *other), (things[0], things[1]), (*one, things[1]), (things[0], *other)] {
                apart.entry(one).or_default().push(other);
                apart.entry(other).or_default().push(one);
            }
        }
        apart
    }

    /// Returns the names that stand for another entity in this document than elsewhere.
    fn things_in(
        &self,
        found: &Found,
        links: &[Link],
        apart: &FxHashMap<EntityOrdinal, Vec<EntityOrdinal>>,
        packed: &PackedResolution,
    ) -> Vec<(EntityOrdinal, EntityOrdinal, Reason)> {
        if links.is_empty() {
            return Vec::new();
        }
        let is_mentioned = |name: EntityOrdinal| found.names.binary_search(&name).is_ok();
        let global = |name: EntityOrdinal| packed.entity_canonical[name.index()];
        // "HTU" may be another union here than elsewhere: its meaning elsewhere does not apply unless it is named.
        let thing = |name: EntityOrdinal| {
            if is_mentioned(name) && !is_mentioned(global(name)) { name } else { global(name) }
        };
        let mut nodes: Vec<EntityOrdinal> = links.iter().flat_map(|it| [thing(it.0), thing(it.1)]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let place = |node: EntityOrdinal| nodes.binary_search(&node).ok().map(EntityOrdinal::at);
        let pairs: Vec<_> = nodes
            .iter()
            .flat_map(|one| apart.get(one).into_iter().flatten().map(move |other| (*one, *other)))
            .filter_map(|(one, other)| Some((place(one)?, place(other)?)))
            .collect();
        let mut groups = Groups::new(nodes.len(), &pairs);
        for (one, other, reason) in links {
            // The types of names are those in most documents; a last name may stand for a person in this one.
            let is_likeness = matches!(reason, Reason::Parenthesis | Reason::Acronym | Reason::Initials);
            if let Some((a, b)) = place(thing(*one)).zip(place(thing(*other)))
                && !(is_likeness && self.types.differ(*one, *other))
            {
                groups.join(a, b, *reason);
            }
        }
        let titled: FxHashSet<EntityOrdinal> = found.titled.iter().map(|it| thing(*it)).collect();
        let several = groups.several();
        let stand: Vec<EntityOrdinal> =
            several.iter().map(|places| self.standing_there(places, &nodes, &titled, packed)).collect();
        let ways = groups.merged_with(&stand);
        let mut there: FxHashMap<EntityOrdinal, (EntityOrdinal, Reason)> = FxHashMap::default();
        for (names, stands) in several.iter().zip(&stand) {
            for name in names.iter().filter(|it| *it != stands) {
                let reason = ways.get(name).map_or(Reason::Document, |way| way.1);
                there.insert(nodes[name.index()], (global(nodes[stands.index()]), reason));
            }
        }
        let found = found.names.iter().filter_map(|name| Some((*name, *there.get(&thing(*name))?)));
        found.map(|(name, (thing, reason))| (name, thing, reason)).collect()
    }

    /// Returns, of names merged in a document, the one that stands for the entity there: preferably not a name with
    /// another meaning elsewhere, not one that several documents have, one in the title, the one with the most words
    /// and letters, the first.
    fn standing_there(
        &self,
        places: &[EntityOrdinal],
        nodes: &[EntityOrdinal],
        titled: &FxHashSet<EntityOrdinal>,
        packed: &PackedResolution,
    ) -> EntityOrdinal {
        let rank = |place: &&EntityOrdinal| {
            let node = nodes[place.index()];
            let name = self.graph.entity_name(node);
            let words = Reverse(name.split(' ').count());
            let is_honored = without_honorific(name).is_some();
            let stands_for_other = packed.entity_canonical[node.index()] != node;
            (
                stands_for_other,
                self.shared.contains(node),
                !titled.contains(&node),
                is_honored,
                words,
                Reverse(name.len()),
                node,
            )
        };
        places.iter().min_by_key(rank).copied().unwrap_or_default()
    }

    /// Determines the types of entities, from the cues of all their names.
    fn types(&mut self, packed: &mut PackedResolution) {
        for name in EntityOrdinal::first(packed.entity_canonical.len()) {
            let thing = packed.entity_canonical[name.index()];
            if thing != name {
                self.types.merge(name, thing);
            }
        }
        for (entity, (kind, sentence)) in self.types.all() {
            packed.entity_type[entity.index()] = kind as u32;
            packed.entity_type_sentence[entity.index()] = sentence.unwrap_or(SentenceOrdinal(super::NONE));
        }
    }
}
