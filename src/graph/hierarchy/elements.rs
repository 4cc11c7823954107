//! Lays out the elements of a hierarchy, as a database holds them, as the same flat arrays that an index of the same
//! elements has.
//!
//! A database has no order. That of an index follows from the elements themselves: relations by their ends, communities
//! level by level and in the order of their parents, summary entities layer by layer, and each group in the order of
//! their members. How central a member is follows from its relations.

use super::build::Inside;
use super::{NONE, PackedHierarchy};
use crate::graph::leiden::WeightedGraph;
use crate::graph::ordinal::{CommunityOrdinal, EntityOrdinal, Ordinal as _, SentenceOrdinal, SummaryOrdinal};
use crate::graph::packed::back_to_back;

/// Two entities that have to do with each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RelationElement {
    /// The entities, the lower first.
    pub ends: [EntityOrdinal; 2],
    /// How much says so.
    pub weight: f32,
    /// The sentence that says most of it.
    pub sentence: Option<SentenceOrdinal>,
}

/// A community.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CommunityElement {
    /// Its level, from 0.
    pub level: u32,
    /// The place in the list of the community that it is a part of.
    pub parent: Option<usize>,
    /// What rules call it.
    pub title: String,
    /// Passages that mention a member.
    pub passages: u32,
    /// The sentences that rules chose, the one that says most first.
    pub findings: Vec<SentenceOrdinal>,
    /// The entities that are in none of its parts.
    pub members: Vec<EntityOrdinal>,
}

/// A summary entity.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SummaryElement {
    /// Its layer, from 1.
    pub layer: u32,
    /// Its name.
    pub name: String,
    /// The sentences about it, the most informative first.
    pub sentences: Vec<SentenceOrdinal>,
    /// Its members, with the weight of each: on layer 1 ordinals of entities, above it places in the list.
    pub members: Vec<(u32, f32)>,
}

/// All elements of a hierarchy, in any order.
#[derive(Debug, Clone, Default)]
pub(crate) struct HierarchyElements {
    /// The relations.
    pub relations: Vec<RelationElement>,
    /// The communities.
    pub communities: Vec<CommunityElement>,
    /// The summary entities.
    pub summaries: Vec<SummaryElement>,
}

impl HierarchyElements {
    /// Lays them out over so many entities, and also returns the ordinals of communities and summary entities; none if
    /// a community is not on the level below that of its parent or has no member, or a summary entity is not on the
    /// layer above that of its members.
    ///
    /// # Complexity
    ///
    /// O(n · log n) time and memory in relations, members and memberships.
    pub(crate) fn pack(
        mut self,
        entities: usize,
    ) -> Option<(PackedHierarchy, Vec<CommunityOrdinal>, Vec<SummaryOrdinal>)> {
        let mut packed = PackedHierarchy::default();
        self.pack_relations(entities, &mut packed)?;
        let communities = self.pack_communities(entities, &mut packed)?;
        let summaries = self.pack_summaries(entities, &mut packed)?;
        Some((packed, communities, summaries))
    }

    fn pack_relations(&mut self, entities: usize, packed: &mut PackedHierarchy) -> Option<()> {
        self.relations.sort_unstable_by_key(|it| it.ends);
        let mut rows = vec![0; entities + 1];
        for RelationElement { ends: [first, second], weight, sentence } in &self.relations {
            *rows.get_mut(first.index() + 1)? += 1;
            packed.relation_entity.push(*second);
            packed.relation_weight.push(*weight);
            packed.relation_sentence.push(sentence.unwrap_or(SentenceOrdinal(NONE)));
        }
        for owner in 0..entities {
            rows[owner + 1] += rows[owner];
        }
        packed.entity_relations = rows;
        Some(())
    }

    fn pack_communities(&mut self, entities: usize, packed: &mut PackedHierarchy) -> Option<Vec<CommunityOrdinal>> {
        let by_level = self.add_members_of_parts()?;
        let mut places = vec![CommunityOrdinal(NONE); self.communities.len()];
        let mut in_order: Vec<usize> = Vec::with_capacity(places.len());
        for level in by_level {
            let mut keyed = Vec::with_capacity(level.len());
            for at in level {
                let community = &self.communities[at];
                keyed.push((community.parent.map(|parent| places[parent]), *community.members.first()?, at));
            }
            keyed.sort_unstable();
            for (_, _, at) in keyed {
                places[at] = CommunityOrdinal::at(in_order.len());
                in_order.push(at);
            }
        }
        let edges: Vec<_> = self.relations.iter().map(|it| (it.ends[0].0, it.ends[1].0, it.weight)).collect();
        let (network, mut inside) = (WeightedGraph::of_edges(entities, &edges), Inside::of(entities));
        packed.community_members.push(0);
        packed.community_findings.push(0);
        let mut titles = Vec::with_capacity(in_order.len());
        for at in in_order {
            let community = &mut self.communities[at];
            let members: Vec<u32> = community.members.iter().map(|it| it.0).collect();
            if members.last().is_some_and(|last| *last as usize >= entities) {
                return None;
            }
            packed.community_level.push(community.level);
            packed.community_parent.push(community.parent.map_or(CommunityOrdinal(NONE), |parent| places[parent]));
            packed
                .community_member
                .extend(inside.central(&members, &network).into_iter().map(|it| EntityOrdinal(it.0)));
            packed.community_members.push(packed.community_member.len() as u32);
            packed.community_passages.push(community.passages);
            packed.community_finding.append(&mut community.findings);
            packed.community_findings.push(packed.community_finding.len() as u32);
            titles.push(std::mem::take(&mut community.title));
        }
        (packed.community_title_ends, packed.community_titles) = back_to_back(&titles);
        Some(places)
    }

    /// Gives each community the members of its parts too, in order, and returns the places of each level.
    fn add_members_of_parts(&mut self) -> Option<Vec<Vec<usize>>> {
        let levels = self.communities.iter().map(|it| it.level as usize + 1).max().unwrap_or(0);
        // A level without a community has nothing above it either.
        if levels > self.communities.len() {
            return None;
        }
        let mut by_level = vec![Vec::new(); levels];
        for (at, community) in self.communities.iter().enumerate() {
            by_level[community.level as usize].push(at);
        }
        for level in by_level.iter().rev() {
            for at in level {
                let community = &mut self.communities[*at];
                community.members.sort_unstable();
                community.members.dedup();
                let (level, parent, members) = (community.level, community.parent, community.members.clone());
                match parent {
                    None if level == 0 => {}
                    None => return None,
                    Some(parent) => {
                        let parent = self.communities.get_mut(parent).filter(|it| it.level + 1 == level)?;
                        parent.members.extend(members);
                    }
                }
            }
        }
        Some(by_level)
    }

    fn pack_summaries(&mut self, entities: usize, packed: &mut PackedHierarchy) -> Option<Vec<SummaryOrdinal>> {
        let layers = self.summaries.iter().map(|it| it.layer as usize).max().unwrap_or(0);
        if layers > self.summaries.len() {
            return None;
        }
        let mut by_layer = vec![Vec::new(); layers];
        for (at, summary) in self.summaries.iter().enumerate() {
            by_layer[(summary.layer as usize).checked_sub(1)?].push(at);
        }
        let (mut places, mut names) = (vec![NONE; self.summaries.len()], Vec::new());
        for (layer, of_layer) in by_layer.into_iter().enumerate() {
            let mut keyed = Vec::with_capacity(of_layer.len());
            for at in of_layer {
                let mut members = std::mem::take(&mut self.summaries[at].members);
                for (member, _) in &mut members {
                    *member = match layer {
                        0 => Some(*member).filter(|it| (*it as usize) < entities)?,
                        _ => places.get(*member as usize).copied().filter(|it| *it != NONE)?,
                    };
                }
                members.sort_unstable_by_key(|it| it.0);
                let order: Vec<u32> = members.iter().map(|it| it.0).collect();
                keyed.push((order, at, members));
            }
            keyed.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.cmp(&b.1)));
            for (_, at, members) in keyed {
                let summary = &mut self.summaries[at];
                places[at] = packed.summary_layer.len() as u32;
                packed.summary_layer.push(summary.layer);
                packed.summary_member.extend(members.iter().map(|it| it.0));
                packed.summary_weight.extend(members.iter().map(|it| it.1));
                packed.summary_members.push(packed.summary_member.len() as u32);
                packed.summary_sentence.append(&mut summary.sentences);
                packed.summary_sentences.push(packed.summary_sentence.len() as u32);
                names.push(std::mem::take(&mut summary.name));
            }
        }
        if !packed.summary_layer.is_empty() {
            packed.summary_members.insert(0, 0);
            packed.summary_sentences.insert(0, 0);
        }
        (packed.summary_name_ends, packed.summary_names) = back_to_back(&names);
        Some(places.into_iter().map(SummaryOrdinal).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn community(level: u32, parent: Option<usize>, members: &[u32]) -> CommunityElement {
        let members = members.iter().map(|it| EntityOrdinal(*it)).collect();
        CommunityElement { level, parent, title: format!("{level}"), passages: 1, findings: Vec::new(), members }
    }

    fn summary(layer: u32, members: &[u32]) -> SummaryElement {
        let members = members.iter().map(|it| (*it, 1.0)).collect();
        SummaryElement { layer, name: format!("{layer}"), sentences: Vec::new(), members }
    }

    fn relation(first: u32, second: u32, weight: f32) -> RelationElement {
        RelationElement { ends: [first, second].map(EntityOrdinal), weight, sentence: None }
    }

    #[test]
    fn elements_in_any_order_stand_as_in_an_index() {
        let elements = HierarchyElements {
            relations: vec![relation(2, 3, 2.0), relation(0, 1, 1.0), relation(1, 2, 4.0)],
            communities: vec![
                community(1, Some(2), &[3, 1]),
                community(0, None, &[4, 5]),
                community(0, None, &[0]),
                community(1, Some(2), &[2]),
            ],
            summaries: vec![summary(2, &[1, 2]), summary(1, &[3, 5]), summary(1, &[0, 4])],
        };
        let (packed, places, summaries) = elements.pack(6).expect("a hierarchy");
        let hierarchy = packed.view();
        assert_eq!(hierarchy.check(6, 0), Ok(()));
        assert_eq!(
            (places, summaries),
            ([2, 1, 0, 3].map(CommunityOrdinal).into(), [2, 1, 0].map(SummaryOrdinal).into())
        );
        let of = |at: u32| hierarchy.members(CommunityOrdinal(at)).iter().map(|it| it.0).collect::<Vec<_>>();
        // The most central ones first; ties in order.
        assert_eq!([of(0), of(1), of(2), of(3)], [vec![2, 1, 3, 0], vec![4, 5], vec![1, 3], vec![2]]);
        assert_eq!(hierarchy.relations().map(|it| it.0[0].0).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((&packed.summary_layer[..], &packed.summary_member[..]), (&[1, 1, 2][..], &[0, 4, 3, 5, 0, 1][..]));
        assert_eq!(HierarchyElements::default().pack(0).map(|it| it.0.view().check(0, 0)), Some(Ok(())));
    }

    #[test]
    fn elements_outside_the_levels_make_no_hierarchy() {
        let of = |communities: &[CommunityElement], summaries: &[SummaryElement]| {
            let (communities, summaries) = (communities.to_vec(), summaries.to_vec());
            HierarchyElements { relations: Vec::new(), communities, summaries }.pack(3).is_some()
        };
        assert!(of(&[community(0, None, &[0])], &[summary(1, &[2])]));
        for broken in [
            [community(0, None, &[]), community(0, None, &[1])],
            [community(0, None, &[0]), community(1, None, &[1])],
            [community(0, None, &[0]), community(0, Some(0), &[1])],
            [community(0, None, &[0]), community(9, Some(0), &[1])],
            [community(0, None, &[0]), community(1, Some(7), &[1])],
            [community(0, None, &[0]), community(0, None, &[3])],
        ] {
            assert!(!of(&broken, &[]), "{broken:?}");
        }
        for broken in [[summary(1, &[0]), summary(1, &[3])], [summary(0, &[0]), summary(1, &[0])], {
            [summary(1, &[0]), summary(2, &[1])]
        }] {
            assert!(!of(&[], &broken), "{broken:?}");
        }
    }
}
