//! The first step of Leiden: vertices move to the best neighboring community, as long as any move gains.

use std::collections::VecDeque;

use super::graph::{Sums, WeightedGraph};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::random::SplitMix64;

/// The least gain for which a vertex moves, as a share of the weight of all edges: less is rounding.
const GAIN_MIN: f64 = 1e-12;
/// Mean number of visits to each vertex, after which the rest stay.
const LOOKS_MAX: usize = 1_000;

/// Moves vertices until no move gains. Only neighbors of a moved vertex are visited again. `communities` has a number
/// below the count of vertices for each.
pub(super) fn move_vertices(
    graph: &WeightedGraph,
    communities: &mut [u32],
    resolution: f64,
    random: &mut SplitMix64,
    cancellation: &Cancellation,
) -> Result<()> {
    let count = graph.vertex_count();
    let mut state = Communities::of(graph, communities);
    let mut order: Vec<u32> = (0..count as u32).collect();
    random.shuffle(&mut order);
    let mut queue: VecDeque<u32> = order.into();
    let mut is_queued = vec![true; count];
    let mut weights = Sums::new(count);
    let gain_min = GAIN_MIN * graph.total();
    for _ in 0..count * LOOKS_MAX {
        cancellation.check()?;
        let Some(vertex) = queue.pop_front() else { break };
        is_queued[vertex as usize] = false;
        for (neighbor, weight) in graph.neighbors(vertex) {
            weights.add(communities[*neighbor as usize], *weight);
        }
        let (from, size) = (communities[vertex as usize], graph.size(vertex));
        let to = state.best(from, size, &weights, (resolution, gain_min));
        weights.clear();
        if to == from {
            continue;
        }
        state.transfer(size, from, to);
        communities[vertex as usize] = to;
        for (neighbor, _) in graph.neighbors(vertex) {
            if communities[*neighbor as usize] != to && !std::mem::replace(&mut is_queued[*neighbor as usize], true) {
                queue.push_back(*neighbor);
            }
        }
    }
    Ok(())
}

/// The members of each community.
struct Communities {
    sizes: Vec<f64>,
    members: Vec<u32>,
    /// Those without a member.
    empty: Vec<u32>,
}

impl Communities {
    fn of(graph: &WeightedGraph, communities: &[u32]) -> Self {
        let count = graph.vertex_count();
        let (mut sizes, mut members) = (vec![0.0; count], vec![0; count]);
        for (vertex, community) in (0..).zip(communities) {
            sizes[*community as usize] += graph.size(vertex);
            members[*community as usize] += 1;
        }
        let empty = (0..count as u32).rev().filter(|community| members[*community as usize] == 0).collect();
        Self { sizes, members, empty }
    }

    /// Returns the community where a vertex of a size is best. `weights` are those of its edges to each community.
    /// Being alone has a gain of 0.
    fn best(&self, from: u32, size: f64, weights: &Sums, (resolution, gain_min): (f64, f64)) -> u32 {
        let gain = |community: u32, others: f64| resolution.mul_add(-size * others, weights.of(community));
        let stays = gain(from, self.sizes[from as usize] - size);
        let is_alone = self.members[from as usize] == 1;
        let mut best = match self.empty.last().filter(|_| stays < 0.0 && !is_alone) {
            Some(empty) => (*empty, 0.0),
            None => (from, stays),
        };
        for community in weights.numbers().filter(|community| *community != from) {
            let goes = gain(community, self.sizes[community as usize]);
            if goes > best.1 + gain_min {
                best = (community, goes);
            }
        }
        best.0
    }

    fn transfer(&mut self, size: f64, from: u32, to: u32) {
        if self.members[to as usize] == 0 {
            self.empty.pop();
        }
        self.sizes[to as usize] += size;
        self.members[to as usize] += 1;
        self.sizes[from as usize] -= size;
        self.members[from as usize] -= 1;
        if self.members[from as usize] == 0 {
            self.sizes[from as usize] = 0.0;
            self.empty.push(from);
        }
    }
}
