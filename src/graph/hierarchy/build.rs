//! Builds the hierarchy by rule: relations of entities that share sentences, and those that a model found; communities
//! over these; and layers by vectors.

use rayon::prelude::*;

use super::carried::{Carried, Earlier, HierarchyAge, KEPT_MIN};
use super::layers::{LayerOptions, pack_layers};
use super::naming::Central;
use super::untouched::{Compared, Untouched};
use super::wording::Wording;
use super::{NONE, PackedHierarchy};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::extracted::Extracted;
use crate::graph::leiden::{Community, LeidenOptions, WeightedGraph, levels};
use crate::graph::mentions::NamedDocument;
use crate::graph::ordinal::{CommunityOrdinal, EntityOrdinal, Ordinal as _, SentenceOrdinal};
use crate::graph::packed::back_to_back;
use crate::graph::relations::{Relation, related_entities, relations};
use crate::graph::resolution::EntityGraph;
use crate::graph::vectors::Vectors;

/// How a hierarchy is made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HierarchyOptions {
    /// How communities are found, and from how many members on they are divided.
    pub communities: LeidenOptions,
    /// Minimum entities of a community; the others are in no community.
    pub members_min: usize,
    /// How layers are made.
    pub layers: LayerOptions,
    /// Entities from which on the communities and clusters of an earlier version are kept.
    pub kept_min: u32,
}

impl Default for HierarchyOptions {
    fn default() -> Self {
        let communities = LeidenOptions { members_max: 24, ..LeidenOptions::default() };
        Self { communities, members_min: 2, layers: LayerOptions::default(), kept_min: KEPT_MIN }
    }
}

/// Returns the hierarchy over the entities of a graph, which was made of `documents`, with a vector for each sentence;
/// no layers without vectors.
///
/// # Errors
///
/// [`Error::Cancelled`](crate::error::Error::Cancelled) if a stop was asked for.
///
/// # Complexity
///
/// O(mentions · log mentions + pairs of sentences · log pairs + entities^1.5) time, and O(mentions + relations +
/// entities · dimension) memory.
pub fn pack_hierarchy<'g>(
    graph: impl Into<EntityGraph<'g>>,
    documents: &[NamedDocument<'_>],
    sentences: &Vectors<'_>,
    options: &HierarchyOptions,
    cancellation: &Cancellation,
) -> Result<PackedHierarchy> {
    pack_hierarchy_after(&graph.into(), documents, sentences, (options, None), cancellation)
}

/// Returns the hierarchy as [`pack_hierarchy`] does, with the communities and clusters of an `earlier` version where
/// little has changed since they were found: see [`DRIFT_MAX`](super::DRIFT_MAX). They keep their titles and sentences
/// too, unless something that these depend on has changed.
///
/// # Errors
///
/// As [`pack_hierarchy`].
pub fn pack_hierarchy_after(
    graph: &EntityGraph<'_>,
    documents: &[NamedDocument<'_>],
    sentences: &Vectors<'_>,
    (options, earlier): (&HierarchyOptions, Option<Earlier<'_>>),
    cancellation: &Cancellation,
) -> Result<PackedHierarchy> {
    let extracted = Extracted::of(graph, documents);
    let wording = Wording { graph: graph.entities, names: graph.names, documents };
    let (both, names, graph) = (graph, graph.names, graph.entities);
    let entities = related_entities(&graph, &extracted);
    let compared = earlier.as_ref().and_then(|it| Compared::of(both, it));
    let related = match earlier.as_ref().filter(|it| it.is_by_rule).zip(compared.as_ref()) {
        Some((earlier, compared)) => compared.with_relations(&earlier.hierarchy, |known| {
            relations(&graph, &entities, (&extracted, Some(known)), cancellation)
        }),
        None => relations(&graph, &entities, (&extracted, None), cancellation),
    }?;
    let mut packed = PackedHierarchy::default();
    pack_relations(&related, &entities, graph.entity_documents.len(), &mut packed);
    let edges = related.iter().map(|it| (it.ends[0], it.ends[1], it.weight));
    let mut carried = earlier.and_then(|it| Carried::of(it, &names, (&entities, &related), options.kept_min));
    let untouched = earlier.filter(|_| carried.is_some()).zip(compared);
    let untouched = untouched.map(|(it, compared)| Untouched::of(compared, (&entities, &related), sentences, &it));
    let (found, whole) = if let Some(carried) = &carried {
        (carried.communities(edges.clone()), None)
    } else {
        let network = WeightedGraph::around(entities.len(), edges.clone(), |_| true);
        (levels(&network, &options.communities, cancellation)?, Some(network))
    };
    let (communities, before) = worth_keeping(found, options.members_min);
    let known = known_reports(&communities, &before, &entities, untouched.as_ref());
    let network = whole.unwrap_or_else(|| around_unknown(&communities, &known, entities.len(), edges));
    let now =
        HierarchyAge { entities: entities.len() as u32, relations: related.len() as u32, ..HierarchyAge::default() };
    packed.made = carried.as_ref().map_or(now, Carried::made).packed();
    cancellation.check()?;
    let report = |inside: &mut Inside, (community, known): (&Community, Option<Report>)| {
        cancellation.check()?;
        Ok(known.unwrap_or_else(|| report(community, (&network, inside), &entities, &wording)))
    };
    let inside = || Inside::of(entities.len());
    let reports = communities.par_iter().zip(known).map_init(inside, report).collect::<Result<Vec<Report>>>()?;
    pack_communities(&communities, reports, &mut packed);
    if !sentences.is_empty() {
        let how = (&options.layers, carried.as_mut().map(|it| (it, untouched.as_ref())));
        pack_layers(sentences, &entities, &wording, how, cancellation, &mut packed)?;
    }
    Ok(packed)
}

fn pack_relations(related: &[Relation], entities: &[EntityOrdinal], count: usize, packed: &mut PackedHierarchy) {
    let mut rows = vec![0; count + 1];
    packed.relation_entity.reserve_exact(related.len());
    packed.relation_weight.reserve_exact(related.len());
    packed.relation_sentence.reserve_exact(related.len());
    for relation in related {
        let [first, second] = relation.ends.map(|place| entities[place as usize]);
        rows[first.index() + 1] += 1;
        packed.relation_entity.push(second);
        packed.relation_weight.push(relation.weight);
        packed.relation_sentence.push(relation.sentence.unwrap_or(SentenceOrdinal(NONE)));
    }
    for owner in 0..count {
        rows[owner + 1] += rows[owner];
    }
    packed.entity_relations = rows;
}

/// Returns the communities that have enough members, and the place of each in the list. Those of a level still come
/// after those of the level above.
fn worth_keeping(communities: Vec<Community>, members_min: usize) -> (Vec<Community>, Vec<CommunityOrdinal>) {
    let mut places = Vec::with_capacity(communities.len());
    let (mut kept, mut before): (Vec<Community>, Vec<CommunityOrdinal>) = (Vec::new(), Vec::new());
    for (place, community) in (0..).zip(communities) {
        let is_kept = community.members.len() >= members_min.max(1);
        places.push(kept.len() as u32);
        if is_kept {
            let parent = community.parent.map(|parent| places[parent as usize]);
            kept.push(Community { parent, ..community });
            before.push(CommunityOrdinal(place));
        }
    }
    (kept, before)
}

/// Returns what an earlier version says of communities that are as they were, each of which was one of `before`.
fn known_reports(
    communities: &[Community],
    before: &[CommunityOrdinal],
    entities: &[EntityOrdinal],
    untouched: Option<&Untouched<'_>>,
) -> Vec<Option<Report>> {
    let known = |(community, before): (&Community, &CommunityOrdinal)| {
        let members: Vec<EntityOrdinal> = community.members.iter().map(|place| entities[*place as usize]).collect();
        untouched?.report(*before, &members)
    };
    communities.par_iter().zip(before).map(known).collect()
}

/// Returns the neighbors of members of communities of which nothing is known.
fn around_unknown(
    communities: &[Community],
    known: &[Option<Report>],
    count: usize,
    edges: impl Iterator<Item = (u32, u32, f32)> + Clone,
) -> WeightedGraph {
    let mut is_needed = vec![false; count];
    let unknown = communities.iter().zip(known).filter(|(_, known)| known.is_none());
    unknown.flat_map(|(community, _)| &community.members).for_each(|place| is_needed[*place as usize] = true);
    WeightedGraph::around(count, edges, |place| is_needed[place as usize])
}

/// The texts about a community.
pub(super) struct Report {
    pub(super) members: Vec<EntityOrdinal>,
    pub(super) title: String,
    pub(super) passages: u32,
    pub(super) findings: Vec<SentenceOrdinal>,
}

fn report(
    community: &Community,
    (network, inside): (&WeightedGraph, &mut Inside),
    entities: &[EntityOrdinal],
    wording: &Wording<'_>,
) -> Report {
    let central = inside.central(&community.members, network);
    let central: Vec<Central> = central.into_iter().map(|(place, weight)| (entities[place as usize], weight)).collect();
    let members: Vec<EntityOrdinal> = central.iter().map(|it| it.0).collect();
    let (title, findings) = (wording.title(&central), wording.findings(&central));
    Report { passages: wording.passages(&members), members, title, findings }
}

/// Which vertices are inside a community, one community after the other.
pub(super) struct Inside(Vec<bool>);

impl Inside {
    /// Returns what so many vertices need.
    pub(super) fn of(vertices: usize) -> Self {
        Self(vec![false; vertices])
    }

    /// Returns members with their centrality, the most central first: the weight of their relations to each other,
    /// times its share of all of theirs, so that an entity that belongs everywhere is not central anywhere.
    pub(super) fn central(&mut self, members: &[u32], network: &WeightedGraph) -> Vec<(u32, f64)> {
        for member in members {
            self.0[*member as usize] = true;
        }
        let weight = |member: u32| {
            let (mut inside, mut all) = (0.0, 0.0);
            for (other, weight) in network.neighbors(member) {
                all += weight;
                if self.0[*other as usize] {
                    inside += weight;
                }
            }
            if all > 0.0 { inside * (inside / all) } else { 0.0 }
        };
        let mut central: Vec<(u32, f64)> = members.iter().map(|member| (*member, weight(*member))).collect();
        for member in members {
            self.0[*member as usize] = false;
        }
        central.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        central
    }
}

fn pack_communities(communities: &[Community], reports: Vec<Report>, packed: &mut PackedHierarchy) {
    packed.community_members.push(0);
    packed.community_findings.push(0);
    let mut titles = Vec::with_capacity(reports.len());
    for (community, report) in communities.iter().zip(reports) {
        packed.community_level.push(community.level);
        packed.community_parent.push(CommunityOrdinal(community.parent.unwrap_or(NONE)));
        packed.community_member.extend(report.members);
        packed.community_members.push(packed.community_member.len() as u32);
        packed.community_passages.push(report.passages);
        packed.community_finding.extend(report.findings);
        packed.community_findings.push(packed.community_finding.len() as u32);
        titles.push(report.title);
    }
    (packed.community_title_ends, packed.community_titles) = back_to_back(&titles);
}

#[cfg(test)]
mod tests;
