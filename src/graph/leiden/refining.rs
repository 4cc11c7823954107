//! The second step of Leiden: each community is rebuilt from its vertices, so that it is connected.

use super::graph::{Sums, WeightedGraph};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::random::SplitMix64;

/// Returns a finer partition than `communities`: each vertex that is well connected with its community, and still
/// alone, joins a part of it that is so too, drawn by `exp(gain / randomness)`.
pub(super) fn refine(
    graph: &WeightedGraph,
    communities: &[u32],
    (resolution, randomness): (f64, f64),
    random: &mut SplitMix64,
    cancellation: &Cancellation,
) -> Result<Vec<u32>> {
    let count = graph.vertex_count();
    let mut wholes = vec![0.0; count];
    for (vertex, community) in (0..).zip(communities) {
        wholes[*community as usize] += graph.size(vertex);
    }
    let mut parts = Parts::of(graph, communities);
    let mut order: Vec<u32> = (0..count as u32).collect();
    random.shuffle(&mut order);
    let (mut weights, mut candidates) = (Sums::new(count), Vec::new());
    for vertex in order {
        cancellation.check()?;
        let community = communities[vertex as usize];
        let whole = wholes[community as usize];
        if !parts.is_single[vertex as usize] || !parts.is_well_connected(vertex, whole, resolution) {
            continue;
        }
        for (neighbor, weight) in graph.neighbors(vertex) {
            if communities[*neighbor as usize] == community {
                weights.add(parts.of[*neighbor as usize], *weight);
            }
        }
        candidates.clear();
        for part in weights.numbers().filter(|part| *part != vertex) {
            let gain = (resolution * graph.size(vertex)).mul_add(-parts.sizes[part as usize], weights.of(part));
            if gain >= 0.0 && parts.is_well_connected(part, whole, resolution) {
                candidates.push((part, gain));
            }
        }
        if let Some(part) = drawn(&candidates, randomness, random) {
            parts.join(vertex, part, weights.of(part));
        }
        weights.clear();
    }
    Ok(parts.of)
}

/// Returns one of the candidates, or none of them: staying alone gains nothing. Without randomness it is the best.
fn drawn(candidates: &[(u32, f64)], randomness: f64, random: &mut SplitMix64) -> Option<u32> {
    let most = candidates.iter().map(|(_, gain)| *gain).fold(0.0, f64::max);
    if randomness <= 0.0 {
        return candidates.iter().find(|(_, gain)| *gain >= most).map(|(part, _)| *part);
    }
    let chance = |gain: f64| ((gain - most) / randomness).exp();
    let sum = chance(0.0) + candidates.iter().map(|(_, gain)| chance(*gain)).sum::<f64>();
    let mut left = random.unit() * sum - chance(0.0);
    if left < 0.0 {
        return None;
    }
    for (part, gain) in candidates {
        left -= chance(*gain);
        if left <= 0.0 {
            return Some(*part);
        }
    }
    candidates.last().map(|(part, _)| *part)
}

/// The parts of communities.
struct Parts {
    /// That of each vertex; parts are named by one of their vertices.
    of: Vec<u32>,
    sizes: Vec<f64>,
    is_single: Vec<bool>,
    /// Weights of the edges from each part to the rest of its community.
    outside: Vec<f64>,
}

impl Parts {
    fn of(graph: &WeightedGraph, communities: &[u32]) -> Self {
        let count = graph.vertex_count() as u32;
        let outside = |vertex: u32| {
            let within = graph
                .neighbors(vertex)
                .iter()
                .filter(|(to, _)| communities[*to as usize] == communities[vertex as usize]);
            within.map(|(_, weight)| weight).sum()
        };
        Self {
            of: (0..count).collect(),
            sizes: graph.sizes().to_vec(),
            is_single: vec![true; count as usize],
            outside: (0..count).map(outside).collect(),
        }
    }

    /// Returns whether a part is connected with the rest of its community as well as chance would have it, at least.
    fn is_well_connected(&self, part: u32, whole: f64, resolution: f64) -> bool {
        let size = self.sizes[part as usize];
        self.outside[part as usize] >= resolution * size * (whole - size)
    }

    /// Puts a single vertex into a part that edges of this weight lead to.
    fn join(&mut self, vertex: u32, part: u32, weight: f64) {
        let (from, to) = (vertex as usize, part as usize);
        self.of[from] = part;
        self.outside[to] += 2.0f64.mul_add(-weight, self.outside[from]);
        self.sizes[to] += self.sizes[from];
        self.sizes[from] = 0.0;
        self.is_single[from] = false;
        self.is_single[to] = false;
    }
}
