//! An undirected weighted graph as rows of neighbors.

use std::sync::Arc;

use crate::domain::Cancellation;
use crate::error::Result;

/// An undirected graph with weighted edges. Vertices are numbered from 0; loops are not part of it.
#[derive(Debug, Clone)]
pub struct WeightedGraph {
    /// Shared by graphs that differ in sizes alone: it is most of the memory.
    rows: Arc<Rows>,
    /// The size of each vertex: 1, or the sum of those merged into it.
    sizes: Vec<f64>,
}

/// The neighbors of all vertices.
#[derive(Debug)]
struct Rows {
    /// Where the neighbors of each vertex begin, and the end.
    offsets: Vec<usize>,
    neighbors: Vec<(u32, f64)>,
}

impl WeightedGraph {
    /// Returns the graph of `vertex_count` vertices with edges `(a, b, weight)`. Parallel edges count together; loops,
    /// edges of vertices that there are not, and those without a positive weight are left out.
    #[must_use]
    pub fn of_edges(vertex_count: usize, edges: &[(u32, u32, f32)]) -> Self {
        Self::around(vertex_count, edges.iter().copied(), |_| true)
    }

    /// Returns the graph as [`Self::of_edges`] does, but only with the [`Self::neighbors`] of some vertices: nothing
    /// else may be asked of it.
    #[must_use]
    pub fn around(
        vertex_count: usize,
        edges: impl Iterator<Item = (u32, u32, f32)> + Clone,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Self {
        let is_edge = |(a, b, weight): &(u32, u32, f32)| {
            a != b && (*a.max(b) as usize) < vertex_count && *weight > 0.0 && weight.is_finite()
        };
        let mut offsets = vec![0; vertex_count + 1];
        for (a, b, _) in edges.clone().filter(is_edge) {
            offsets[a as usize + 1] += usize::from(is_wanted(a));
            offsets[b as usize + 1] += usize::from(is_wanted(b));
        }
        for vertex in 0..vertex_count {
            offsets[vertex + 1] += offsets[vertex];
        }
        let mut next = offsets.clone();
        let mut neighbors = vec![(0, 0.0); offsets[vertex_count]];
        for (a, b, weight) in edges.filter(is_edge) {
            for (from, to) in [(a, b), (b, a)].into_iter().filter(|(from, _)| is_wanted(*from)) {
                neighbors[next[from as usize]] = (to, f64::from(weight));
                next[from as usize] += 1;
            }
        }
        Self::of_rows(offsets, neighbors, vec![1.0; vertex_count])
    }

    fn of_rows(offsets: Vec<usize>, neighbors: Vec<(u32, f64)>, sizes: Vec<f64>) -> Self {
        Self { rows: Arc::new(Rows { offsets, neighbors }), sizes }
    }

    /// Returns how many vertices there are.
    #[must_use]
    pub const fn vertex_count(&self) -> usize {
        self.sizes.len()
    }

    /// Returns the neighbors of a vertex with the weights of the edges to them; a neighbor may occur more than once.
    ///
    /// # Panics
    ///
    /// If there is no such vertex.
    #[must_use]
    pub fn neighbors(&self, vertex: u32) -> &[(u32, f64)] {
        let Rows { offsets, neighbors } = &*self.rows;
        &neighbors[offsets[vertex as usize]..offsets[vertex as usize + 1]]
    }

    /// Returns the sum of the weights of the edges of a vertex.
    pub(super) fn strength(&self, vertex: u32) -> f64 {
        self.neighbors(vertex).iter().map(|(_, weight)| weight).sum()
    }

    /// Returns the sum of the weights of all edges.
    pub(super) fn total(&self) -> f64 {
        self.rows.neighbors.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0
    }

    pub(super) fn size(&self, vertex: u32) -> f64 {
        self.sizes[vertex as usize]
    }

    pub(super) fn sizes(&self) -> &[f64] {
        &self.sizes
    }

    /// Returns it with other sizes of its vertices, of which there are as many.
    pub(super) fn with_sizes(&self, sizes: Vec<f64>) -> Self {
        Self { rows: Arc::clone(&self.rows), sizes }
    }

    /// Returns the graph whose vertices are the groups of `groups`, numbered below `group_count`.
    pub(super) fn aggregated(&self, groups: &[u32], group_count: usize, cancellation: &Cancellation) -> Result<Self> {
        let members = members(groups, group_count);
        let mut sums = Sums::new(group_count);
        let (mut offsets, mut neighbors) = (vec![0], Vec::new());
        let mut sizes = Vec::with_capacity(group_count);
        for (group, members) in members.iter().enumerate() {
            cancellation.check()?;
            sizes.push(members.iter().map(|vertex| self.size(*vertex)).sum());
            for (neighbor, weight) in members.iter().flat_map(|vertex| self.neighbors(*vertex)) {
                let other = groups[*neighbor as usize];
                if other as usize != group {
                    sums.add(other, *weight);
                }
            }
            neighbors.extend(sums.drain());
            offsets.push(neighbors.len());
        }
        Ok(Self::of_rows(offsets, neighbors, sizes))
    }

    /// Returns the graph of some vertices and the edges among them, numbered by their position in `vertices`; `places`
    /// has `u32::MAX` for each vertex of this graph, before and after.
    pub(super) fn induced(&self, vertices: &[u32], places: &mut [u32]) -> Self {
        for (place, vertex) in (0..).zip(vertices) {
            places[*vertex as usize] = place;
        }
        let (mut offsets, mut neighbors) = (vec![0], Vec::new());
        for vertex in vertices {
            let among = self.neighbors(*vertex).iter().map(|(to, weight)| (places[*to as usize], *weight));
            neighbors.extend(among.filter(|(place, _)| *place != u32::MAX));
            offsets.push(neighbors.len());
        }
        for vertex in vertices {
            places[*vertex as usize] = u32::MAX;
        }
        Self::of_rows(offsets, neighbors, vec![1.0; vertices.len()])
    }
}

/// Returns the vertices of each group, in order.
pub(super) fn members(groups: &[u32], group_count: usize) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); group_count];
    for (vertex, group) in (0..).zip(groups) {
        members[*group as usize].push(vertex);
    }
    members
}

/// Numbers groups from 0 in the order of their first vertices, and returns how many there are.
pub(super) fn renumber(groups: &mut [u32]) -> usize {
    let most = groups.iter().max().map_or(0, |most| *most as usize + 1);
    let mut numbers = vec![u32::MAX; most];
    let mut count = 0;
    for group in groups {
        let number = &mut numbers[*group as usize];
        if *number == u32::MAX {
            *number = count;
            count += 1;
        }
        *group = *number;
    }
    count as usize
}

/// Sums by number, few of them nonzero.
pub(super) struct Sums {
    sums: Vec<f64>,
    touched: Vec<u32>,
}

impl Sums {
    pub(super) fn new(count: usize) -> Self {
        Self { sums: vec![0.0; count], touched: Vec::new() }
    }

    /// Adds a positive value.
    pub(super) fn add(&mut self, number: u32, value: f64) {
        let sum = &mut self.sums[number as usize];
        if *sum == 0.0 {
            self.touched.push(number);
        }
        *sum += value;
    }

    pub(super) fn of(&self, number: u32) -> f64 {
        self.sums[number as usize]
    }

    /// Returns the numbers that something was added to, in the order in which that began.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        self.touched.iter().copied()
    }

    pub(super) fn clear(&mut self) {
        self.drain().for_each(drop);
    }

    /// Returns all sums that are not zero, and makes them zero.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (u32, f64)> {
        let sums = &mut self.sums;
        self.touched.drain(..).map(|number| (number, std::mem::take(&mut sums[number as usize])))
    }
}
