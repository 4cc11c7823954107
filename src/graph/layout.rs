//! Where to draw the nodes of a small graph: at positions whose distances approximate the number of edges between the
//! nodes.
//!
//! Stress majorization (Gansner, Koren and North, 2005), node by node: each node moves to where its own part of the
//! stress is least while the others stay, so no sweep raises the stress. It uses only sums, products and square roots,
//! which are equal on every machine.

use std::collections::VecDeque;

/// Nodes that a layout has at most: it takes their square in space and, for each sweep, in time.
pub(crate) const NODES_MAX: usize = 1_000;
/// Sweeps at most.
const SWEEPS_MAX: usize = 200;
/// A sweep that lowers the stress by less than this part of it is the last.
const GAIN_MIN: f64 = 1e-4;
/// Distance of unconnected nodes beyond the longest path.
const APART: u32 = 1;

/// A place in the plane.
pub(crate) type Place = [f64; 2];

/// Lays out a graph of `count` nodes, whose edges count in both directions; none if there are more than [`NODES_MAX`],
/// or an edge names a missing node. Positions are centered at 0 and reach up to 1 from it. The same graph and seed give
/// the same positions.
///
/// # Complexity
///
/// O(nodes · edges + sweeps · nodes²) time, O(nodes²) space, with at most 200 sweeps.
#[must_use]
pub(crate) fn layout(count: usize, edges: &[(u32, u32)], seed: u64) -> Option<Vec<Place>> {
    if count > NODES_MAX || edges.iter().any(|(from, to)| *from.max(to) as usize >= count) {
        return None;
    }
    let distances = Distances::of(count, edges);
    let mut places = scattered(count, seed);
    let mut stress = distances.stress(&places);
    for _ in 0..SWEEPS_MAX {
        for node in 0..count {
            places[node] = distances.best_place(node, &places);
        }
        let lower = distances.stress(&places);
        let is_settled = stress - lower <= GAIN_MIN * stress;
        stress = lower;
        if is_settled {
            break;
        }
    }
    centered(&mut places);
    Some(places)
}

/// Edges on the shortest path between any two nodes.
struct Distances {
    count: usize,
    lengths: Vec<u32>,
}

impl Distances {
    fn of(count: usize, edges: &[(u32, u32)]) -> Self {
        let mut neighbors = vec![Vec::new(); count];
        for &(from, to) in edges {
            neighbors[from as usize].push(to as usize);
            neighbors[to as usize].push(from as usize);
        }
        let mut lengths = vec![u32::MAX; count * count];
        let mut queue = VecDeque::new();
        for (start, lengths) in lengths.chunks_mut(count.max(1)).enumerate() {
            lengths[start] = 0;
            queue.push_back(start);
            while let Some(node) = queue.pop_front() {
                for &next in &neighbors[node] {
                    if lengths[next] == u32::MAX {
                        lengths[next] = lengths[node] + 1;
                        queue.push_back(next);
                    }
                }
            }
        }
        let longest = lengths.iter().copied().filter(|it| *it != u32::MAX).max().unwrap_or_default();
        for length in lengths.iter_mut().filter(|it| **it == u32::MAX) {
            *length = longest + APART;
        }
        Self { count, lengths }
    }

    fn between(&self, a: usize, b: usize) -> f64 {
        f64::from(self.lengths[a * self.count + b])
    }

    /// Returns how far the places are from the distances: squares of the differences, relative to the distances.
    fn stress(&self, places: &[Place]) -> f64 {
        let mut stress = 0.0;
        for a in 0..self.count {
            for b in 0..a {
                let wanted = self.between(a, b);
                let off = (length(minus(places[a], places[b])) - wanted) / wanted;
                stress += off * off;
            }
        }
        stress
    }

    /// Returns where the bound on a node's part of the stress is least while the others stay.
    fn best_place(&self, node: usize, places: &[Place]) -> Place {
        let (mut sum, mut weights) = ([0.0; 2], 0.0);
        let here = places[node];
        for (other, &there) in places.iter().enumerate() {
            if other == node {
                continue;
            }
            let wanted = self.between(node, other);
            let weight = 1.0 / (wanted * wanted);
            let away = minus(here, there);
            let actual = length(away);
            // Two at one place have no direction from each other; any will do, and this one is always the same.
            let direction = if actual > 0.0 { away.map(|it| it / actual) } else { [1.0, 0.0] };
            for axis in 0..2 {
                sum[axis] += weight * (there[axis] + wanted * direction[axis]);
            }
            weights += weight;
        }
        if weights > 0.0 { sum.map(|it| it / weights) } else { here }
    }
}

/// Returns places in a square, drawn from the seed.
fn scattered(count: usize, seed: u64) -> Vec<Place> {
    let mut state = seed;
    let mut draw = || {
        // SplitMix64, by Steele, Lea and Flood (2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    };
    let side = (count as f64).sqrt();
    (0..count).map(|_| [draw() * side, draw() * side]).collect()
}

/// Moves the middle to 0 and the farthest place to 1 from it.
fn centered(places: &mut [Place]) {
    let count = places.len() as f64;
    let middle = [0, 1].map(|axis| places.iter().map(|it| it[axis]).sum::<f64>() / count);
    for place in places.iter_mut() {
        *place = minus(*place, middle);
    }
    let reach = places.iter().map(|it| length(*it)).fold(0.0, f64::max);
    for place in places.iter_mut().filter(|_| reach > 0.0) {
        *place = place.map(|it| it / reach);
    }
}

fn minus(a: Place, b: Place) -> Place {
    [a[0] - b[0], a[1] - b[1]]
}

fn length(a: Place) -> f64 {
    (a[0] * a[0] + a[1] * a[1]).sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn distance(places: &[Place], a: usize, b: usize) -> f64 {
        length(minus(places[a], places[b]))
    }

    #[test]
    fn a_path_is_drawn_straight_and_a_ring_round() {
        let path = layout(5, &[(0, 1), (1, 2), (2, 3), (3, 4)], 7).unwrap();
        for node in 0..4 {
            assert!((distance(&path, node, node + 1) - 0.5).abs() < 0.05, "{path:?}");
        }
        assert!(distance(&path, 0, 4) > 1.9, "{path:?}");
        let edges: Vec<(u32, u32)> = (0..12).map(|it| (it, (it + 1) % 12)).collect();
        for place in layout(12, &edges, 7).unwrap() {
            assert!((length(place) - 1.0).abs() < 0.1, "{place:?}");
        }
    }

    #[test]
    fn nothing_and_one_node_have_their_places() {
        assert_eq!(layout(0, &[], 1), Some(Vec::new()));
        assert_eq!(layout(1, &[(0, 0)], 1), Some(vec![[0.0, 0.0]]));
        let two = layout(2, &[], 1).unwrap();
        assert!((distance(&two, 0, 1) - 2.0).abs() < 1e-9, "{two:?}");
    }

    #[test]
    fn the_limit_is_laid_out_in_bounded_work() {
        // A tree with three branches at each node: the work is that of the limit, whatever the shape.
        let edges: Vec<(u32, u32)> = (1..NODES_MAX as u32).map(|it| (it, (it - 1) / 3)).collect();
        let places = layout(NODES_MAX, &edges, 3).unwrap();
        assert_eq!(places.len(), NODES_MAX);
        assert_eq!(layout(NODES_MAX + 1, &edges, 3), None);
        assert_eq!(layout(2, &[(0, 2)], 3), None);
        let mean = |pairs: &[(u32, u32)]| {
            pairs.iter().map(|(a, b)| distance(&places, *a as usize, *b as usize)).sum::<f64>() / pairs.len() as f64
        };
        let far: Vec<(u32, u32)> = (0..NODES_MAX as u32 / 2).map(|it| (it, NODES_MAX as u32 - 1 - it)).collect();
        assert!(mean(&edges) * 3.0 < mean(&far), "{} and {}", mean(&edges), mean(&far));
    }

    proptest! {
        #[test]
        fn no_sweep_raises_the_stress(
            count in 2_usize..24,
            pairs in proptest::collection::vec((0_u32..24, 0_u32..24), 0..60),
            seed: u64,
        ) {
            let edges: Vec<(u32, u32)> = pairs.into_iter().map(|(a, b)| (a % count as u32, b % count as u32)).collect();
            let distances = Distances::of(count, &edges);
            let mut places = scattered(count, seed);
            let mut stress = distances.stress(&places);
            for _ in 0..20 {
                for node in 0..count {
                    places[node] = distances.best_place(node, &places);
                }
                let lower = distances.stress(&places);
                // Up to rounding: a stress near zero is only rounding.
                prop_assert!(lower <= stress * (1.0 + 1e-9) + 1e-12, "{lower} after {stress}");
                stress = lower;
            }
        }

        #[test]
        fn places_are_apart_inside_the_circle_and_the_same_again(
            count in 2_usize..40,
            pairs in proptest::collection::vec((0_u32..40, 0_u32..40), 0..120),
            seed: u64,
        ) {
            let edges: Vec<(u32, u32)> = pairs.into_iter().map(|(a, b)| (a % count as u32, b % count as u32)).collect();
            let places = layout(count, &edges, seed).unwrap();
            prop_assert_eq!(Some(places.clone()), layout(count, &edges, seed));
            for a in 0..count {
                prop_assert!(length(places[a]) <= 1.0 + 1e-9);
                for b in 0..a {
                    prop_assert!(distance(&places, a, b) > 1e-3, "{a} and {b} of {count}");
                }
            }
        }

        #[test]
        fn ways_are_as_long_as_a_search_from_every_node_finds(
            count in 1_usize..16,
            pairs in proptest::collection::vec((0_u32..16, 0_u32..16), 0..30),
        ) {
            let edges: Vec<(u32, u32)> = pairs.into_iter().map(|(a, b)| (a % count as u32, b % count as u32)).collect();
            let found = Distances::of(count, &edges);
            // Floyd and Warshall's algorithm, slow and obvious.
            let mut lengths = vec![1_000_u32; count * count];
            for node in 0..count {
                lengths[node * count + node] = 0;
            }
            for &(a, b) in edges.iter().filter(|(a, b)| a != b) {
                lengths[a as usize * count + b as usize] = 1;
                lengths[b as usize * count + a as usize] = 1;
            }
            for middle in 0..count {
                for a in 0..count {
                    for b in 0..count {
                        let around = lengths[a * count + middle] + lengths[middle * count + b];
                        lengths[a * count + b] = lengths[a * count + b].min(around);
                    }
                }
            }
            let longest = lengths.iter().copied().filter(|it| *it < 1_000).max().unwrap_or_default();
            for length in lengths.iter_mut().filter(|it| **it >= 1_000) {
                *length = longest + APART;
            }
            prop_assert_eq!(found.lengths, lengths);
        }
    }
}
