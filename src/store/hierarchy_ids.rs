//! Ids of communities and summary entities, equal in every store: derived from their level or layer, and their members.

use rustc_hash::FxHashMap;

use crate::domain::{CommunityId, SummaryId};
use crate::graph::hierarchy::{Hierarchy, community_id};
use crate::graph::ordinal::{CommunityOrdinal, EntityOrdinal};
use crate::graph::packed::PassageGraph;

/// Returns the identity of each community, by ordinal.
pub(crate) fn community_ids(graph: &PassageGraph<'_>, hierarchy: &Hierarchy<'_>) -> Vec<CommunityId> {
    hierarchy.communities().map(|it| id_of_community(graph, hierarchy, it)).collect()
}

/// Returns the identity of a community.
pub(crate) fn id_of_community(
    graph: &PassageGraph<'_>,
    hierarchy: &Hierarchy<'_>,
    community: CommunityOrdinal,
) -> CommunityId {
    let names = hierarchy.members(community).iter().map(|member| graph.entity_name(*member));
    community_id(hierarchy.community_level[community], names)
}

/// Returns the identity of each summary entity, by ordinal.
pub(crate) fn summary_ids(graph: &PassageGraph<'_>, hierarchy: &Hierarchy<'_>) -> Vec<SummaryId> {
    let mut ids: Vec<SummaryId> = Vec::with_capacity(hierarchy.summary_layer.len());
    // Soft clusters may have the same members.
    let mut counts: FxHashMap<SummaryId, u32> = FxHashMap::default();
    for summary in hierarchy.summaries() {
        let layer = hierarchy.summary_layer[summary];
        let members = hierarchy.summarized(summary).map(|(member, _)| match layer {
            1 => graph.entity_name(EntityOrdinal(member)).as_bytes(),
            _ => ids[member as usize].as_bytes(),
        });
        let first = SummaryId::of(&parts(&layer.to_le_bytes(), members.collect()));
        let count = counts.entry(first).or_default();
        let id = match *count {
            0 => first,
            count => SummaryId::of(&[first.as_bytes(), &count.to_le_bytes()]),
        };
        *count += 1;
        ids.push(id);
    }
    ids
}

/// Returns the input of an id: a level, and its members in any order.
fn parts<'a>(level: &'a [u8], mut members: Vec<&'a [u8]>) -> Vec<&'a [u8]> {
    members.sort_unstable();
    members.insert(0, level);
    members
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::graph::hierarchy::PackedHierarchy;
    use crate::graph::packed::{PackedGraph, back_to_back};

    fn graph(names: &[&str]) -> PackedGraph {
        let (entity_name_ends, entity_names) = back_to_back(names);
        PackedGraph { entity_name_ends, entity_names, ..PackedGraph::default() }
    }

    /// Summary entities by layer and members, in this order.
    fn summaries(of: &[(u32, &[u32])]) -> PackedHierarchy {
        let mut packed = PackedHierarchy { summary_members: vec![0], ..PackedHierarchy::default() };
        for (layer, members) in of {
            packed.summary_layer.push(*layer);
            packed.summary_member.extend(*members);
            packed.summary_weight.resize(packed.summary_member.len(), 1.0);
            packed.summary_members.push(packed.summary_member.len() as u32);
        }
        packed
    }

    fn ids_of(names: &[&str], of: &[(u32, &[u32])]) -> Vec<SummaryId> {
        summary_ids(&graph(names).view(), &summaries(of).view())
    }

    #[test]
    fn a_community_is_known_by_its_level_and_its_members_in_any_order() {
        let of = |level, names: &[&str]| community_id(level, names.iter().copied());
        assert_eq!(of(1, &["ada", "tom"]), of(1, &["tom", "ada"]));
        assert_ne!(of(1, &["ada", "tom"]), of(2, &["ada", "tom"]));
        assert_ne!(of(1, &["ada", "tom"]), of(1, &["ada"]));
    }

    #[test]
    fn a_summary_entity_is_known_by_what_it_summarizes_down_to_the_names() {
        let ids = ids_of(&["ada", "mill", "tom"], &[(1, &[0, 1]), (1, &[1, 2]), (2, &[0, 1])]);
        // Other ordinals, but the same names.
        let same = ids_of(&["ada", "heron", "mill", "tom"], &[(1, &[3, 2]), (1, &[2, 0]), (2, &[1, 0])]);
        assert_eq!([same[1], same[0], same[2]], ids[..]);
        let other = ids_of(&["ada", "mill", "tim"], &[(1, &[0, 1]), (1, &[1, 2]), (2, &[0, 1])]);
        assert_eq!((other[0], other[1] == ids[1], other[2] == ids[2]), (ids[0], false, false));
    }

    #[test]
    fn soft_clusters_with_the_same_members_are_distinguished() {
        let ids = ids_of(&["ada", "tom"], &[(1, &[0, 1]), (1, &[0, 1]), (1, &[1, 0]), (2, &[0, 1, 2])]);
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 4);
    }
}
