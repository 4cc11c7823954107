//! The communities that entities are in, and the key entities of each.

use std::cmp::Reverse;

use super::LayersOptions;
use super::nearness::Nearness;
use crate::graph::hierarchy::Hierarchy;
use crate::graph::ordinal::{CommunityOrdinal, EntityOrdinal, Ordinal as _, SummaryOrdinal};
use crate::graph::top;

/// The entities that enter the hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Chosen {
    /// An entity of layer 0.
    Entity(EntityOrdinal),
    /// A summary entity of a layer above it.
    Summary(SummaryOrdinal),
}

/// A community with the number of chosen entities in it.
#[derive(Debug, Clone)]
pub(super) struct Counted {
    pub(super) community: CommunityOrdinal,
    pub(super) hits: u32,
    /// The members that are nearest to the question, the nearest first.
    pub(super) keys: Vec<EntityOrdinal>,
}

/// Layers below a summary entity at most; a damaged index has no more either.
const LAYERS_MAX: usize = 64;

/// Returns the communities that `entered` are in: those with the most of them first, then by rating. One is left out if
/// a part of it has at least half of these entities, because the part is more specific. Without any entities, they are
/// the top-level ones, the largest first: the topics of the whole collection.
pub(super) fn communities_of(
    nearness: &Nearness<'_>,
    hierarchy: Hierarchy<'_>,
    entered: &[(Chosen, f32)],
    options: &LayersOptions,
) -> Vec<Counted> {
    let mut hits = vec![0_u32; hierarchy.communities().len()];
    let mut is_hit = vec![0_u32; hierarchy.entity_relations.items().len()];
    for (chosen, _) in entered {
        if let Some(entity) = stands_for(nearness, hierarchy, *chosen) {
            is_hit[entity.index()] += 1;
        }
    }
    for community in hierarchy.communities() {
        hits[community.index()] = hierarchy.members(community).iter().map(|member| is_hit[member.index()]).sum();
    }
    let is_said_below = said_below(hierarchy, &hits);
    let mut ranked: Vec<CommunityOrdinal> = if entered.is_empty() {
        hierarchy.communities().filter(|it| hierarchy.community_level[*it] == 0).collect()
    } else {
        hierarchy.communities().filter(|it| hits[it.index()] > 0 && !is_said_below[it.index()]).collect()
    };
    ranked.sort_by_key(|it| (Reverse(hits[it.index()]), Reverse(hierarchy.community_passages[*it]), *it));
    ranked.truncate(options.communities);
    let counted = |community: CommunityOrdinal| Counted {
        community,
        hits: hits[community.index()],
        keys: keys(nearness, hierarchy.members(community), options.keys),
    };
    ranked.into_iter().map(counted).collect()
}

/// Returns for each community whether a part of it has at least half of its hits.
fn said_below(hierarchy: Hierarchy<'_>, hits: &[u32]) -> Vec<bool> {
    let mut is_said = vec![false; hits.len()];
    for community in hierarchy.communities() {
        if let Some(parent) = hierarchy.parent(community) {
            is_said[parent.index()] |= 2 * hits[community.index()] >= hits[parent.index()];
        }
    }
    is_said
}

/// Returns the entity to count for a chosen one: for a summary entity, the nearest of its members.
fn stands_for(nearness: &Nearness<'_>, hierarchy: Hierarchy<'_>, chosen: Chosen) -> Option<EntityOrdinal> {
    let mut summary = match chosen {
        Chosen::Entity(entity) => return Some(entity),
        Chosen::Summary(summary) => summary,
    };
    for _ in 0..LAYERS_MAX {
        let members = hierarchy.summary_members.of(summary).map(|row| hierarchy.summary_member[row]);
        if hierarchy.summary_layer[summary] == 1 {
            let near = members.map(|it| (EntityOrdinal(it), nearness.entity(EntityOrdinal(it))));
            return top::best(near.filter(|it| it.1.is_finite()), 1).first().map(|it| it.0);
        }
        // Above, by the member that most of it belongs to.
        let weighed = hierarchy
            .summary_members
            .of(summary)
            .map(|row| (SummaryOrdinal(hierarchy.summary_member[row]), hierarchy.summary_weight[row]));
        summary = top::best(weighed, 1).first()?.0;
    }
    None
}

/// Returns the members that are nearest to the question; of those that are as near, the most central.
fn keys(nearness: &Nearness<'_>, members: &[EntityOrdinal], count: usize) -> Vec<EntityOrdinal> {
    let places = (0_u32..).zip(members).map(|(place, member)| (place, nearness.entity(*member)));
    let best = top::best(places.filter(|it| it.1.is_finite()), count);
    best.into_iter().map(|(place, _)| members[place as usize]).collect()
}
