//! Combines the descriptions of an entity or a relation from all passages.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::{NONE, PackedDescriptions, origin};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::extracted::{Extracted, FoundRelation};
use crate::graph::hierarchy::Hierarchy;
use crate::graph::mentions::NamedDocument;
use crate::graph::ordinal::{EntityOrdinal, Ordinal as _, RelationOrdinal};
use crate::graph::packed::{PassageGraph, back_to_back, text_at};
use crate::graph::relations::{related_entities, relations_by_rule};
use crate::graph::resolution::EntityGraph;
use crate::text::{model_tokens, terms};

/// Maximum tokens of the descriptions of an entity or a relation: a model may merge longer ones.
pub const DESCRIPTION_TOKENS_MAX: u64 = 500;
/// Maximum tokens of the descriptions of an entity that a model is shown for merging.
const SHOWN_TOKENS_MAX: u64 = 4_000;
/// Passages whose descriptions of one entity or relation are used.
const SAID_MAX: usize = 64;

/// Returns a model's descriptions of the entities and relations of a graph, built from `documents`, and of the
/// hierarchy over it; `mentions` says who found each mention. None if no model found anything.
///
/// # Errors
///
/// [`Error::Cancelled`](crate::error::Error::Cancelled) if a stop was requested.
pub fn pack_descriptions(
    graph: &EntityGraph<'_>,
    hierarchy: &Hierarchy<'_>,
    documents: &[NamedDocument<'_>],
    mentions: &[u8],
    cancellation: &Cancellation,
) -> Result<Option<PackedDescriptions>> {
    if mentions.len() != graph.names.mention_entity.len() {
        return Ok(None);
    }
    let extracted = Extracted::of(graph, documents);
    let mut packed = PackedDescriptions { mention_origin: mentions.to_vec(), ..PackedDescriptions::default() };
    pack_entities(graph, &extracted, &mut packed);
    pack_relations(&graph.entities, hierarchy, &extracted, cancellation, &mut packed)?;
    Ok(Some(packed))
}

fn pack_entities(graph: &EntityGraph<'_>, extracted: &Extracted<'_>, packed: &mut PackedDescriptions) {
    let names = &graph.names;
    let count = names.entity_name_ends.len();
    packed.entity_origin = vec![0; count];
    // Whoever found a name found its entity.
    for passage in names.passages() {
        for mention in names.passage_mentions.of(passage) {
            let (name, bits) = (names.mention_entity[mention], packed.mention_origin[mention.index()]);
            packed.entity_origin[name.index()] |= bits;
            packed.entity_origin[graph.canonical(name, names.passage_document[passage]).index()] |= bits;
        }
    }
    let is_borne =
        |it: &EntityOrdinal| [names, &graph.entities].iter().any(|graph| !graph.entity_bearers.of(*it).is_empty());
    for entity in EntityOrdinal::first(count).filter(is_borne) {
        packed.entity_origin[entity.index()] |= origin::RULE;
    }
    let mut said: Vec<(EntityOrdinal, Option<&str>, &str)> = Vec::new();
    said.extend(extracted.entities.iter().map(|(at, it)| (*at, it.kind.as_deref(), it.description.as_str())));
    // Stable: descriptions of one entity stay in the order of passages.
    said.sort_by_key(|it| it.0);
    let types: BTreeSet<&str> = said.iter().filter_map(|it| it.1).collect();
    let types: Vec<&str> = types.into_iter().collect();
    (packed.type_ends, packed.types) = back_to_back(&types);
    packed.entity_type = vec![NONE; count];
    let mut descriptions = vec![String::new(); count];
    for of_one in said.chunk_by(|a, b| a.0 == b.0) {
        let entity = of_one[0].0.index();
        let kind = usual(of_one.iter().filter_map(|it| it.1));
        packed.entity_type[entity] = kind.and_then(|kind| types.binary_search(&kind).ok()).map_or(NONE, |at| at as u32);
        descriptions[entity] = merged(of_one.iter().map(|it| it.2));
    }
    (packed.entity_description_ends, packed.entity_descriptions) = back_to_back(&descriptions);
}

/// Returns the entities whose descriptions do not fit into [`DESCRIPTION_TOKENS_MAX`], each with the descriptions to
/// show to a model.
#[must_use]
pub fn long_descriptions<'d>(
    graph: &EntityGraph<'_>,
    documents: &[NamedDocument<'d>],
) -> Vec<(EntityOrdinal, Vec<&'d str>)> {
    let mut said: Vec<(EntityOrdinal, &str)> = Vec::new();
    said.extend(Extracted::of(graph, documents).entities.iter().map(|(at, it)| (*at, it.description.as_str())));
    // Stable: descriptions of one entity stay in the order of passages.
    said.sort_by_key(|it| it.0);
    let of_one = |all: &[(EntityOrdinal, &'d str)]| {
        let (entity, all) = (all[0].0, all.iter().map(|it| it.1));
        if !put_together(all.clone()).1 {
            return None;
        }
        let (mut shown, mut tokens): (Vec<&str>, u64) = (Vec::new(), 0);
        for said in all.filter(|it| !it.is_empty()) {
            tokens += model_tokens(said);
            if tokens > SHOWN_TOKENS_MAX {
                break;
            }
            if !shown.contains(&said) {
                shown.push(said);
            }
        }
        Some((entity, shown))
    };
    said.chunk_by(|a, b| a.0 == b.0).filter_map(of_one).collect()
}

/// Gives entities other descriptions than they have.
pub fn describe(others: &[(EntityOrdinal, &str)], packed: &mut PackedDescriptions) {
    if others.is_empty() {
        return;
    }
    let view = packed.view();
    let ordinals = view.entity_description_ends.ordinals();
    let mut all: Vec<&str> =
        ordinals.map(|it| text_at(&view.entity_description_ends, view.entity_descriptions.items(), it)).collect();
    for (entity, description) in others {
        all[entity.index()] = description;
    }
    (packed.entity_description_ends, packed.entity_descriptions) = back_to_back(&all);
}

fn pack_relations(
    graph: &PassageGraph<'_>,
    hierarchy: &Hierarchy<'_>,
    extracted: &Extracted<'_>,
    cancellation: &Cancellation,
    packed: &mut PackedDescriptions,
) -> Result<()> {
    let count = hierarchy.relation_entity.len();
    packed.relation_origin = vec![0; count];
    let entities = related_entities(graph, extracted);
    for relation in relations_by_rule(graph, &entities, cancellation)? {
        let ends = relation.ends.map(|place| entities[place as usize]);
        if let Some(at) = relation_of(hierarchy, ends) {
            packed.relation_origin[at.index()] |= origin::RULE;
        }
    }
    let with_place = |it: &FoundRelation<'_>| relation_of(hierarchy, it.ends);
    let mut said: Vec<(RelationOrdinal, Reverse<u8>, &str)> = Vec::new();
    said.extend(
        extracted
            .relations
            .iter()
            .filter_map(|it| Some((with_place(it)?, Reverse(it.relation.strength), it.relation.description.as_str()))),
    );
    // The strongest first, and those alike in the order of passages.
    said.sort_by_key(|it| (it.0, it.1));
    let mut descriptions = vec![String::new(); count];
    for of_one in said.chunk_by(|a, b| a.0 == b.0) {
        let relation = of_one[0].0.index();
        packed.relation_origin[relation] |= origin::MODEL;
        descriptions[relation] = merged(of_one.iter().map(|it| it.2));
    }
    (packed.relation_description_ends, packed.relation_descriptions) = back_to_back(&descriptions);
    Ok(())
}

/// Returns the relation between two entities, the lower first.
fn relation_of(hierarchy: &Hierarchy<'_>, [first, second]: [EntityOrdinal; 2]) -> Option<RelationOrdinal> {
    let mut row = hierarchy.entity_relations.of(first);
    // In order of their other ends.
    let at = hierarchy.relation_entity.of(row.clone()).binary_search(&second).ok()?;
    row.nth(at)
}

/// Returns what most say; of those that equally many say, the first in order.
fn usual<'a>(said: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for kind in said {
        *counts.entry(kind).or_default() += 1;
    }
    counts.into_iter().min_by_key(|(kind, count)| (Reverse(*count), *kind)).map(|it| it.0)
}

/// Returns the descriptions one after the other, without those that say nothing new, as many as fit into
/// [`DESCRIPTION_TOKENS_MAX`].
fn merged<'a>(said: impl Iterator<Item = &'a str>) -> String {
    put_together(said).0
}

/// Returns the same as [`merged`], and whether any new description did not fit.
fn put_together<'a>(said: impl Iterator<Item = &'a str>) -> (String, bool) {
    let (mut all, mut known, mut tokens, mut is_cut) = (String::new(), FxHashSet::default(), 0, false);
    for part in said.filter(|part| !part.is_empty()).take(SAID_MAX) {
        let new: Vec<String> = terms(part).into_iter().filter(|term| !known.contains(term)).collect();
        let is_first = all.is_empty();
        let size = model_tokens(part);
        if !is_first && (new.is_empty() || tokens + size > DESCRIPTION_TOKENS_MAX) {
            is_cut |= !new.is_empty();
            continue;
        }
        if !is_first {
            all.push(' ');
        }
        all.push_str(part);
        known.extend(new);
        tokens += size;
    }
    (all, is_cut)
}

#[cfg(test)]
pub(super) fn merged_for_tests(said: &[&str]) -> String {
    merged(said.iter().copied())
}
