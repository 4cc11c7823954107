//! Near neighbors of vectors by a forest of random hyperplane trees, in time that grows with the logarithm of their
//! count.
//!
//! Candidates only: the caller scores them exactly. The same seed gives the same forest.

use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::scan::dot;
use super::vectors::Vectors;

/// Rows a leaf holds at most.
const LEAF_ROWS_MAX: usize = 48;

/// The shape of a forest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForestOptions {
    /// Trees; more find more.
    pub trees: u32,
    /// Seed of the hyperplanes.
    pub seed: u64,
}

/// A forest over the rows of some vectors.
#[derive(Debug)]
pub struct Forest {
    trees: Vec<Tree>,
}

#[derive(Debug, Default)]
struct Tree {
    nodes: Vec<Node>,
    /// Normals of the splits, `dimension` values each.
    normals: Vec<i8>,
    /// Rows of the leaves, back to back.
    rows: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
enum Node {
    /// Rows `start..end`.
    Leaf { start: u32, end: u32 },
    /// Rows above `threshold` along the normal go left.
    Split { normal: u32, threshold: i32, left: u32, right: u32 },
}

/// A small generator (splitmix64): the forest needs repeatable, not good, randomness.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

impl Forest {
    /// Grows a forest over all rows of `vectors`.
    ///
    /// Complexity: trees · n · ln n products of vectors.
    #[must_use]
    pub fn grow(vectors: &Vectors<'_>, options: ForestOptions) -> Self {
        if vectors.is_empty() {
            return Self { trees: Vec::new() };
        }
        let grow = |tree: u32| {
            let mut rows: Vec<u32> = (0..vectors.len() as u32).collect();
            let mut random = Random(options.seed.wrapping_add(u64::from(tree)));
            let mut grown = Tree::default();
            grown.grow(vectors, &mut rows, &mut random);
            grown
        };
        Self { trees: (0..options.trees).into_par_iter().map(grow).collect() }
    }

    /// Returns at least `wanted` rows near row `row` of `query`, or all there are; ascending, without repetition.
    #[must_use]
    pub fn near(&self, query: &Vectors<'_>, row: u32, wanted: usize) -> Vec<u32> {
        let codes = query.codes(row);
        let mut queue: BinaryHeap<(i32, usize, u32)> =
            self.trees.iter().enumerate().map(|(tree, _)| (i32::MAX, tree, 0)).collect();
        let mut found = Vec::new();
        while let Some((margin, tree, node)) = queue.pop() {
            if found.len() >= wanted {
                break;
            }
            let trunk = &self.trees[tree];
            match trunk.nodes[node as usize] {
                Node::Leaf { start, end } => found.extend_from_slice(&trunk.rows[start as usize..end as usize]),
                Node::Split { normal, threshold, left, right } => {
                    let side = dot(trunk.normal(normal, codes.len()), codes) - threshold;
                    queue.push((margin.min(side), tree, left));
                    queue.push((margin.min(side.saturating_neg()), tree, right));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Tree {
    fn normal(&self, normal: u32, dimension: usize) -> &[i8] {
        &self.normals[normal as usize * dimension..(normal as usize + 1) * dimension]
    }

    /// Grows the subtree over `rows` and returns its node.
    fn grow(&mut self, vectors: &Vectors<'_>, rows: &mut [u32], random: &mut Random) -> u32 {
        let node = self.nodes.len() as u32;
        if rows.len() <= LEAF_ROWS_MAX {
            let start = self.rows.len() as u32;
            self.rows.extend_from_slice(rows);
            self.nodes.push(Node::Leaf { start, end: self.rows.len() as u32 });
            return node;
        }
        let normal =
            difference(vectors.codes(rows[random.below(rows.len())]), vectors.codes(rows[random.below(rows.len())]));
        // Split at the median: the tree stays balanced whatever the vectors, equal ones included.
        let mut along: Vec<(i32, u32)> = rows.iter().map(|row| (dot(&normal, vectors.codes(*row)), *row)).collect();
        let middle = along.len() / 2;
        along.select_nth_unstable(middle);
        let threshold = along[middle].0;
        for (row, (_, moved)) in rows.iter_mut().zip(along.iter().rev()) {
            *row = *moved;
        }
        let number = (self.normals.len() / vectors.dimension) as u32;
        self.normals.extend_from_slice(&normal);
        self.nodes.push(Node::Leaf { start: 0, end: 0 });
        let (above, below) = rows.split_at_mut(rows.len() - middle);
        let left = self.grow(vectors, above, random);
        let right = self.grow(vectors, below, random);
        self.nodes[node as usize] = Node::Split { normal: number, threshold, left, right };
        node
    }
}

/// Returns the direction from `b` to `a`, at half the scale so that it fits in 8 bits.
fn difference(a: &[i8], b: &[i8]) -> Vec<i8> {
    a.iter().zip(b).map(|(a, b)| ((i16::from(*a) - i16::from(*b)) / 2) as i8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::vectors::QuantizedVectors;

    fn ring(count: usize) -> QuantizedVectors {
        let mut vectors = QuantizedVectors::new(2);
        for i in 0..count {
            let angle = i as f32 / count as f32 * std::f32::consts::TAU;
            vectors.push(&[angle.cos(), angle.sin()]);
        }
        vectors
    }

    #[test]
    fn everything_is_found_when_everything_is_wanted() {
        let vectors = ring(500);
        let forest = Forest::grow(&vectors.view(), ForestOptions { trees: 2, seed: 7 });
        assert_eq!(forest.near(&vectors.view(), 3, usize::MAX).len(), 500);
    }

    #[test]
    fn a_row_is_among_its_own_neighbors_and_the_same_seed_gives_the_same_forest() {
        let vectors = ring(2000);
        let grow = || Forest::grow(&vectors.view(), ForestOptions { trees: 4, seed: 7 });
        let (first, second) = (grow(), grow());
        for row in [0, 500, 1999] {
            let near = first.near(&vectors.view(), row, 100);
            assert!(near.contains(&row) && near.len() < 400, "{row}: {}", near.len());
            assert_eq!(near, second.near(&vectors.view(), row, 100));
        }
    }

    #[test]
    fn equal_vectors_still_make_a_tree() {
        let mut vectors = QuantizedVectors::new(2);
        (0..1000).for_each(|_| vectors.push(&[1.0, 0.0]));
        let forest = Forest::grow(&vectors.view(), ForestOptions { trees: 1, seed: 1 });
        assert!(forest.near(&vectors.view(), 0, 10).len() >= 10);
        assert!(Forest::grow(&QuantizedVectors::new(2).view(), ForestOptions { trees: 1, seed: 1 }).trees.is_empty());
    }
}
