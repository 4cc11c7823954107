//! Communities of an undirected weighted graph: Leiden (Traag, Waltman, van Eck 2019, doi:10.1038/s41598-019-41695-z),
//! with modularity or the constant Potts model, on levels of communities within communities. Every vertex is in a
//! community, including those without an edge, and every community is connected.

mod graph;
mod levels;
mod moving;
mod refining;
#[cfg(test)]
mod tests;

pub use graph::WeightedGraph;
pub use levels::{Community, levels};

use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::random::SplitMix64;
use graph::{members, renumber};
use moving::move_vertices;
use refining::refine;

/// What makes a partition good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quality {
    /// Edges within communities beyond what chance would have between vertices of these degrees (Newman and Girvan
    /// 2004).
    Modularity,
    /// Edges within communities beyond `resolution` for each pair of vertices (Traag, Van Dooren, Nesterov 2011).
    ConstantPotts,
}

/// How communities are looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeidenOptions {
    /// What makes a partition good.
    pub quality: Quality,
    /// The higher, the smaller communities are; 1 for modularity as it was first defined.
    pub resolution: f64,
    /// How freely parts of communities are combined, in units of the weights of edges: the paper's θ; 0 for not at all.
    pub randomness: f64,
    /// Rounds over the whole graph, each of which begins with the partition of the last. All of them are made, as
    /// chance has a part in each: one that gains nothing may be followed by one that does.
    pub rounds_max: usize,
    /// Vertices of a community at most, for [`levels()`]: a larger one is parted on the next level.
    pub members_max: usize,
    /// What all random choices follow from.
    pub seed: u64,
}

impl Default for LeidenOptions {
    fn default() -> Self {
        Self {
            quality: Quality::Modularity,
            resolution: 1.0,
            randomness: 0.01,
            rounds_max: 2,
            members_max: 10,
            seed: 1,
        }
    }
}

/// Returns the community of each vertex, numbered from 0 in the order of their first vertices.
///
/// # Errors
///
/// [`Error::Cancelled`](crate::error::Error::Cancelled) if a stop was asked for, which every vertex looks for.
pub fn partition(graph: &WeightedGraph, options: &LeidenOptions, cancellation: &Cancellation) -> Result<Vec<u32>> {
    let (vertices, total) = (0..graph.vertex_count() as u32, graph.total());
    let (sizes, resolution) = match options.quality {
        Quality::Modularity => {
            let strengths = vertices.clone().map(|vertex| graph.strength(vertex)).collect();
            (strengths, options.resolution / (2.0 * total).max(f64::MIN_POSITIVE))
        }
        Quality::ConstantPotts => (graph.sizes().to_vec(), options.resolution),
    };
    let weighed = graph.with_sizes(sizes);
    let mut random = SplitMix64::new(options.seed);
    let mut communities: Vec<u32> = vertices.collect();
    for _ in 0..options.rounds_max.max(1) {
        round(&weighed, &mut communities, (resolution, options.randomness), &mut random, cancellation)?;
    }
    Ok(connected(graph, &communities))
}

/// Betters a partition once over the whole graph: moves, refines and aggregates until nothing merges any more.
fn round(
    graph: &WeightedGraph,
    communities: &mut [u32],
    (resolution, randomness): (f64, f64),
    random: &mut SplitMix64,
    cancellation: &Cancellation,
) -> Result<()> {
    // The vertex of the aggregated graph that each vertex is in, and the communities of those.
    let mut places: Vec<u32> = (0..graph.vertex_count() as u32).collect();
    let mut current = communities.to_vec();
    let mut aggregated: Option<WeightedGraph> = None;
    loop {
        let graph = aggregated.as_ref().unwrap_or(graph);
        move_vertices(graph, &mut current, resolution, random, cancellation)?;
        let count = renumber(&mut current);
        for (community, place) in communities.iter_mut().zip(&places) {
            *community = current[*place as usize];
        }
        if count == graph.vertex_count() {
            return Ok(());
        }
        let mut parts = refine(graph, &current, (resolution, randomness), random, cancellation)?;
        let mut part_count = renumber(&mut parts);
        // Where nothing joins, whole communities do.
        if part_count == graph.vertex_count() {
            parts.clone_from(&current);
            part_count = count;
        }
        let next = graph.aggregated(&parts, part_count, cancellation)?;
        let mut communities_of_parts = vec![0; part_count];
        for (part, community) in parts.iter().zip(&current) {
            communities_of_parts[*part as usize] = *community;
        }
        for place in &mut places {
            *place = parts[*place as usize];
        }
        current = communities_of_parts;
        aggregated = Some(next);
    }
}

/// Returns a partition in which each connected part of a community is one of its own.
fn connected(graph: &WeightedGraph, communities: &[u32]) -> Vec<u32> {
    let mut found = vec![u32::MAX; communities.len()];
    let (mut count, mut waiting) = (0, Vec::new());
    for first in 0..communities.len() as u32 {
        if found[first as usize] != u32::MAX {
            continue;
        }
        found[first as usize] = count;
        waiting.push(first);
        while let Some(vertex) = waiting.pop() {
            for (neighbor, _) in graph.neighbors(vertex) {
                let is_same = communities[*neighbor as usize] == communities[vertex as usize];
                if is_same && found[*neighbor as usize] == u32::MAX {
                    found[*neighbor as usize] = count;
                    waiting.push(*neighbor);
                }
            }
        }
        count += 1;
    }
    found
}

/// Returns the modularity of a partition: the share of the weight of edges within communities, less what chance would
/// have there (Newman and Girvan 2004); 0 for a graph without edges.
#[must_use]
pub fn modularity(graph: &WeightedGraph, communities: &[u32], resolution: f64) -> f64 {
    let total = graph.total();
    let count = communities.iter().max().map_or(0, |most| *most as usize + 1);
    let (mut within, mut strengths) = (0.0, vec![0.0; count]);
    for (vertex, community) in (0..).zip(communities) {
        strengths[*community as usize] += graph.strength(vertex);
        let inside = graph.neighbors(vertex).iter().filter(|(to, _)| communities[*to as usize] == *community);
        within += inside.map(|(_, weight)| weight).sum::<f64>();
    }
    if total == 0.0 {
        return 0.0;
    }
    let chance: f64 = strengths.iter().map(|strength| (strength / (2.0 * total)).powi(2)).sum();
    resolution.mul_add(-chance, within / (2.0 * total))
}
