//! Carries the communities and clusters of an earlier version over to the entities of another, so that a small change
//! does not pay for finding them.

use std::borrow::Cow;

use rayon::prelude::*;

use super::layers::{norm, product};
use super::untouched::Moved;
use super::{Hierarchy, NONE};
use crate::graph::leiden::{Community, WeightedGraph};
use crate::graph::mixture::SoftClusters;
use crate::graph::ordinal::{CommunityOrdinal, EntityOrdinal, Ordinal as _, SummaryOrdinal};
use crate::graph::packed::PassageGraph;
use crate::graph::relations::Relation;
use crate::graph::resolution::Resolution;
use crate::graph::vectors::Vectors;

/// The share of entities that may have been added or removed since communities and clusters were found, and the share
/// by which the numbers of entities and relations may have changed; beyond it, they are recomputed.
pub const DRIFT_MAX: f64 = 0.05;
/// Entities from which on they are usually kept: those of fewer are found in no time.
pub(super) const KEPT_MIN: u32 = 2_000;

/// The hierarchy of an earlier version, over its graph.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// The graph, by names.
    pub graph: PassageGraph<'a>,
    /// The hierarchy.
    pub hierarchy: Hierarchy<'a>,
    /// What the names stand for; by default, each is an entity.
    pub resolution: Option<Resolution<'a>>,
    /// The vectors of its sentences.
    pub sentences: Vectors<'a>,
    /// Whether rules alone found its relations, as they do now.
    pub is_by_rule: bool,
    /// What became of its texts; if that is unknown, all relations, titles and sentences are found again.
    pub moved: Option<Moved<'a>>,
}

/// A layer whose elements are to be clustered.
#[derive(Clone, Copy)]
pub(super) struct Below<'b> {
    /// The numbers of its elements, entities or summary entities.
    pub(super) numbers: &'b [u32],
    /// Values of their vectors.
    pub(super) dimension: usize,
    /// Puts the vector of the element at a place into a buffer.
    pub(super) put: &'b (dyn Fn(usize, &mut [f32]) + Sync),
}

/// When communities and clusters were found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HierarchyAge {
    /// Entities then.
    pub entities: u32,
    /// Relations then.
    pub relations: u32,
    /// Entities added or removed since.
    pub changed: u32,
    /// Versions since.
    pub versions: u32,
}

impl HierarchyAge {
    /// Returns it as a hierarchy keeps it.
    #[must_use]
    pub fn packed(self) -> Vec<u32> {
        vec![self.entities, self.relations, self.changed, self.versions]
    }

    /// Returns the reusable parts of a hierarchy; none if an earlier program made it.
    #[must_use]
    pub fn of(hierarchy: &Hierarchy<'_>) -> Option<Self> {
        let [entities, relations, changed, versions] = *hierarchy.made.items() else { return None };
        Some(Self { entities, relations, changed, versions })
    }
}

/// Communities and clusters of an earlier version, by the places of entities in the list of another.
pub(super) struct Carried<'a> {
    hierarchy: Hierarchy<'a>,
    entities: &'a [EntityOrdinal],
    /// The place of each entity of the earlier version, or [`NONE`].
    places: Vec<u32>,
    /// The summary entity that each of the earlier version is now, or [`NONE`], and the inverse.
    summaries: Vec<u32>,
    before: Vec<SummaryOrdinal>,
    made: HierarchyAge,
}

impl<'a> Carried<'a> {
    /// Returns the reusable parts of an earlier hierarchy; none if too much has changed, or if it is of fewer than
    /// `kept_min` entities.
    pub(super) fn of(
        earlier: Earlier<'a>,
        names: &PassageGraph<'_>,
        (entities, related): (&'a [EntityOrdinal], &[Relation]),
        kept_min: u32,
    ) -> Option<Self> {
        let (hierarchy, before) = (earlier.hierarchy, HierarchyAge::of(&earlier.hierarchy)?);
        if before.entities < kept_min {
            return None;
        }
        let was_there = was_there(&hierarchy, earlier.graph.entity_name_ends.len());
        let (mut places, mut is_known) = (vec![NONE; was_there.len()], vec![false; entities.len()]);
        let mut gone = 0;
        let now = names.entities_of(&earlier.graph);
        for old in EntityOrdinal::first(was_there.len()).filter(|it| was_there[it.index()]) {
            let now = now.get(old.index()).copied().flatten();
            if let Some(place) = now.and_then(|it| entities.binary_search(&it).ok()) {
                places[old.index()] = place as u32;
                is_known[place] = true;
            } else {
                gone += 1;
            }
        }
        let mut is_related = vec![false; entities.len()];
        related.iter().flat_map(|it| it.ends).for_each(|end| is_related[end as usize] = true);
        let new = is_related.iter().zip(&is_known).filter(|(is_related, is_known)| **is_related && !**is_known).count();
        let changed = before.changed.saturating_add(gone).saturating_add(new as u32);
        let growth = |now: usize, before: u32| (now as f64 - f64::from(before)).abs() / f64::from(before.max(1));
        let grown = growth(related.len(), before.relations).max(growth(entities.len(), before.entities));
        let drift = grown.max(f64::from(changed) / f64::from(before.entities));
        let made = HierarchyAge { changed, versions: before.versions.saturating_add(1), ..before };
        let summaries = vec![NONE; hierarchy.summary_layer.len()];
        (drift <= DRIFT_MAX).then_some(Self { hierarchy, entities, places, summaries, before: Vec::new(), made })
    }

    /// Returns when they were found.
    pub(super) const fn made(&self) -> HierarchyAge {
        self.made
    }

    /// Returns which of so many entities were in a cluster.
    pub(super) fn clustered(&self, entities: usize) -> Vec<bool> {
        let (hierarchy, mut clustered) = (self.hierarchy, vec![false; entities]);
        for summary in hierarchy.summaries().filter(|it| hierarchy.summary_layer[*it] == 1) {
            for place in hierarchy.summarized(summary).filter_map(|(member, _)| self.place(member)) {
                clustered[self.entities[place].index()] = true;
            }
        }
        clustered
    }

    /// Returns the communities, of entities with these relations. An entity in none joins that of its most closely
    /// related neighbor; one without relations stays in none.
    pub(super) fn communities(&self, edges: impl Iterator<Item = (u32, u32, f32)> + Clone) -> Vec<Community> {
        let hierarchy = &self.hierarchy;
        let mut smallest = vec![NONE; self.entities.len()];
        for (old, community) in hierarchy.smallest_communities() {
            if let Some(place) = self.place(old.0) {
                smallest[place] = community.0;
            }
        }
        let network = WeightedGraph::around(smallest.len(), edges, |place| smallest[place as usize] == NONE);
        join_neighbors(&mut smallest, &network);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); hierarchy.community_level.len()];
        for (place, smallest) in (0..).zip(smallest) {
            let mut around = Some(CommunityOrdinal(smallest)).filter(|it| it.0 != NONE);
            while let Some(community) = around {
                members[community.index()].push(place);
                around = hierarchy.parent(community);
            }
        }
        let community = |(at, members): (CommunityOrdinal, Vec<u32>)| Community {
            level: hierarchy.community_level[at],
            parent: hierarchy.parent(at).map(|parent| parent.0),
            members,
        };
        hierarchy.communities().zip(members).map(community).collect()
    }

    /// Returns the clusters of a layer over those `below`; none if there was no such layer. New members join the
    /// cluster with the nearest mean. The first of the clusters is to be summary entity `first`.
    pub(super) fn clusters(&mut self, layer: u32, below: &Below<'_>, first: u32) -> Option<SoftClusters> {
        let (hierarchy, numbers) = (self.hierarchy, below.numbers);
        let of_layer: Vec<SummaryOrdinal> =
            hierarchy.summaries().filter(|it| hierarchy.summary_layer[*it] == layer).collect();
        if of_layer.is_empty() || numbers.is_empty() {
            return None;
        }
        let mut places = vec![NONE; numbers.iter().max().map_or(0, |most| *most as usize + 1)];
        (0..).zip(numbers).for_each(|(place, number)| places[*number as usize] = place);
        let mut memberships: Vec<Vec<(u32, f32)>> = vec![Vec::new(); numbers.len()];
        for (cluster, summary) in (0..).zip(&of_layer) {
            for (member, weight) in hierarchy.summarized(*summary) {
                let now = if layer == 1 {
                    self.place(member).map(|place| self.entities[place].0)
                } else {
                    Some(self.summaries[member as usize])
                };
                let place = now.and_then(|it| places.get(it as usize)).filter(|place| **place != NONE);
                if let Some(place) = place {
                    memberships[*place as usize].push((cluster, weight));
                }
            }
        }
        join_nearest(&mut memberships, &of_layer, below, &hierarchy);
        let (clusters, renumbered) = numbered(memberships, of_layer.len());
        for (summary, now) in of_layer.iter().zip(renumbered) {
            self.summaries[summary.index()] = if now == NONE { NONE } else { first + now };
            self.before.extend((now != NONE).then_some(*summary));
        }
        Some(clusters)
    }

    /// Returns what a summary entity was in the earlier version.
    pub(super) fn before(&self, summary: u32) -> SummaryOrdinal {
        self.before[summary as usize]
    }

    /// Returns what a summary entity of the earlier version is now.
    pub(super) fn now(&self, before: u32) -> Option<u32> {
        self.summaries.get(before as usize).copied().filter(|it| *it != NONE)
    }

    fn place(&self, old: u32) -> Option<usize> {
        Some(self.places[old as usize]).filter(|place| *place != NONE).map(|place| place as usize)
    }
}

/// Puts each vertex without a community into that of its nearest neighbor with one, until no such vertex is left.
fn join_neighbors(smallest: &mut [u32], network: &WeightedGraph) {
    let mut apart: Vec<u32> = (0..smallest.len() as u32).filter(|it| smallest[*it as usize] == NONE).collect();
    loop {
        let before = apart.len();
        apart.retain(|place| {
            let joined = network.neighbors(*place).iter().filter(|(it, _)| smallest[*it as usize] != NONE);
            let nearest = joined.min_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            smallest[*place as usize] = nearest.map_or(NONE, |(it, _)| smallest[*it as usize]);
            smallest[*place as usize] == NONE
        });
        if apart.len() == before {
            break;
        }
    }
}

/// Returns which of so many entities are in a community or a cluster.
fn was_there(hierarchy: &Hierarchy<'_>, entities: usize) -> Vec<bool> {
    let mut was_there = vec![false; entities];
    hierarchy.community_member.items().iter().for_each(|member| was_there[member.index()] = true);
    for summary in hierarchy.summaries().filter(|it| hierarchy.summary_layer[*it] == 1) {
        hierarchy.summarized(summary).for_each(|(member, _)| was_there[member as usize] = true);
    }
    was_there
}

/// Puts elements without a cluster into the one with the nearest mean. Each was one of these summary entities; its mean
/// is the one that the earlier version kept, if it kept any.
fn join_nearest(
    memberships: &mut [Vec<(u32, f32)>],
    summaries: &[SummaryOrdinal],
    below: &Below<'_>,
    hierarchy: &Hierarchy<'_>,
) {
    let Below { dimension, put, .. } = *below;
    if memberships.iter().all(|it| !it.is_empty()) || memberships.iter().all(Vec::is_empty) {
        return;
    }
    let kept = summaries.iter().map(|summary| hierarchy.mean(*summary, dimension).map(Cow::Borrowed));
    let means: Vec<Cow<'_, [f32]>> = kept
        .collect::<Option<_>>()
        .unwrap_or_else(|| means(memberships, summaries.len(), below).into_iter().map(Cow::Owned).collect());
    // One that has lost all its members ends.
    let mut has_members = vec![false; summaries.len()];
    memberships.iter().flatten().for_each(|(cluster, _)| has_members[*cluster as usize] = true);
    let lengths: Vec<f32> = means.iter().map(|mean| norm(mean).max(f32::MIN_POSITIVE)).collect();
    let join = |vector: &mut Vec<f32>, (at, of_one): (usize, &mut Vec<(u32, f32)>)| {
        put(at, vector);
        let nearness =
            |(cluster, (mean, length)): (u32, (&Cow<'_, [f32]>, &f32))| (cluster, product(mean, vector) / length);
        let clusters = (0..).zip(means.iter().zip(&lengths)).filter(|(cluster, _)| has_members[*cluster as usize]);
        let nearest = clusters.map(nearness).min_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        of_one.extend(nearest.map(|(cluster, _)| (cluster, 1.0)));
    };
    let alone = memberships.par_iter_mut().enumerate().filter(|(_, it)| it.is_empty());
    alone.for_each_init(|| vec![0.0; dimension], join);
}

/// Returns the means of so many clusters: an earlier program kept none.
fn means(memberships: &[Vec<(u32, f32)>], clusters: usize, below: &Below<'_>) -> Vec<Vec<f32>> {
    let mut members: Vec<Vec<(usize, f32)>> = vec![Vec::new(); clusters];
    for (at, of_one) in memberships.iter().enumerate() {
        for (cluster, weight) in of_one {
            members[*cluster as usize].push((at, *weight));
        }
    }
    let mean = |vector: &mut Vec<f32>, members: &Vec<(usize, f32)>| {
        vector.resize(below.dimension, 0.0);
        let mut mean = vec![0.0; below.dimension];
        for (at, weight) in members {
            (below.put)(*at, vector);
            let scale = weight / norm(vector).max(f32::MIN_POSITIVE);
            mean.iter_mut().zip(&*vector).for_each(|(sum, value)| *sum += value * scale);
        }
        mean
    };
    members.par_iter().map_init(Vec::new, mean).collect()
}

/// Returns memberships as clusters that all have members, and the number that each of before has now, or [`NONE`].
fn numbered(memberships: Vec<Vec<(u32, f32)>>, count: usize) -> (SoftClusters, Vec<u32>) {
    let mut numbers = vec![NONE; count];
    memberships.iter().flatten().for_each(|(cluster, _)| numbers[*cluster as usize] = 0);
    let mut next = 0;
    for number in numbers.iter_mut().filter(|it| **it != NONE) {
        *number = next;
        next += 1;
    }
    let mut clusters = SoftClusters { count: next as usize, rows: vec![0], ..SoftClusters::default() };
    for mut of_one in memberships {
        of_one.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        clusters.cluster.extend(of_one.iter().map(|it| numbers[it.0 as usize]));
        clusters.weight.extend(of_one.iter().map(|it| it.1));
        clusters.rows.push(clusters.cluster.len() as u32);
    }
    (clusters, numbers)
}

#[cfg(test)]
mod tests {
    use super::super::PackedHierarchy;
    use super::*;

    /// Returns the clusters of four elements: the last two come to two clusters, which had these means. The first two
    /// now have each other's vectors.
    fn joined(first_two: [Vec<(u32, f32)>; 2], kept: &[f32]) -> Vec<Vec<(u32, f32)>> {
        let packed =
            PackedHierarchy { summary_layer: vec![1, 1], summary_vector: kept.to_vec(), ..PackedHierarchy::default() };
        let vectors = [[0.0, 1.0], [1.0, 0.0], [1.0, 0.1], [0.3, 0.9]];
        let put = |at: usize, vector: &mut [f32]| vector.copy_from_slice(&vectors[at]);
        let below = Below { numbers: &[0, 1, 2, 3], dimension: 2, put: &put };
        let mut memberships: Vec<Vec<(u32, f32)>> = first_two.into_iter().chain([Vec::new(), Vec::new()]).collect();
        join_nearest(&mut memberships, &SummaryOrdinal::first(2).collect::<Vec<_>>(), &below, &packed.view());
        memberships
    }

    #[test]
    fn elements_join_the_cluster_whose_mean_was_nearest_and_still_has_members() {
        let both = || [vec![(0, 1.0)], vec![(1, 1.0)]];
        let alone = |memberships: Vec<Vec<(u32, f32)>>| memberships[2..].iter().map(|it| it[0].0).collect::<Vec<_>>();
        let kept = [5.0, 0.0, 0.0, 2.0];
        assert_eq!(alone(joined(both(), &kept)), [0, 1]);
        // Nothing was kept: those of the members now.
        assert_eq!(alone(joined(both(), &[])), [1, 0]);
        assert_eq!(alone(joined([Vec::new(), vec![(1, 1.0)]], &kept))[1..], [1]);
        assert_eq!(joined([Vec::new(), Vec::new()], &kept), vec![Vec::new(); 4]);
        let only_first = joined([vec![(0, 1.0)], vec![(0, 1.0)]], &kept);
        assert_eq!(alone(only_first), [0, 0]);
    }
}
