//! The shortest paths between two nodes of an undirected graph, in an order that does not depend on the graph's:
//! shorter ones first, then by the numbers of nodes and edges.
//!
//! A path visits no node twice. Two edges between the same nodes give two paths. The graph is any type that implements
//! the traits of petgraph, whose own `k_shortest_path` gives only lengths.

use std::collections::BTreeMap;

use petgraph::Undirected;
use petgraph::visit::{EdgeRef as _, GraphProp, IntoEdges, NodeIndexable};
use rustc_hash::{FxHashMap, FxHashSet};

/// The bounds of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PathLimits {
    /// Paths to find at most.
    pub paths: usize,
    /// Edges of a path at most.
    pub length_max: usize,
}

/// Each edge of a path, behind the node that it leads to: paths of one length are in the order of these.
pub(crate) type Steps<N, E> = Vec<(N, E)>;

/// Returns the shortest paths from one node to another, within `limits`; none if they are equal.
///
/// Yen's algorithm (1971) in Lawler's form (1972): the remaining paths are partitioned by where they leave a found
/// path, and each part yields its first path.
///
/// # Complexity
///
/// O(paths · `length_max` · (nodes + edges)) time and O(nodes) memory at worst. A search starts from both ends and
/// stops where they meet, so it usually visits few nodes.
pub(crate) fn shortest_paths<G>(
    graph: G,
    from: G::NodeId,
    to: G::NodeId,
    limits: PathLimits,
) -> Vec<Steps<G::NodeId, G::EdgeId>>
where
    G: IntoEdges + NodeIndexable + GraphProp<EdgeType = Undirected>,
    G::NodeId: Ord,
    G::EdgeId: Ord,
{
    let search = Search { graph, from, to, length_max: limits.length_max };
    let mut found: Vec<Steps<G::NodeId, G::EdgeId>> = Vec::new();
    if from == to {
        return found;
    }
    // Paths in order, each with the place where it leaves the one that it derives from.
    let mut waiting = BTreeMap::new();
    waiting.extend(search.first(&[], &[]).map(|path| ((path.len(), path), 0)));
    while found.len() < limits.paths
        && let Some(((_, path), left)) = waiting.pop_first()
    {
        found.push(path);
        let Some(path) = found.last() else { break };
        for at in left..path.len() {
            let root = &path[..at];
            let alike = found.iter().filter(|it| it.len() > at && it.starts_with(root));
            let taken: Vec<_> = alike.map(|it| it[at]).collect();
            waiting.extend(search.first(root, &taken).map(|path| ((path.len(), path), at)));
        }
    }
    found
}

struct Search<G: petgraph::visit::GraphBase> {
    graph: G,
    from: G::NodeId,
    to: G::NodeId,
    length_max: usize,
}

impl<G> Search<G>
where
    G: IntoEdges + NodeIndexable + GraphProp<EdgeType = Undirected>,
    G::NodeId: Ord,
    G::EdgeId: Ord,
{
    /// Returns the first of all paths that begin with `root` and continue with no step of `taken`.
    fn first(
        &self,
        root: &[(G::NodeId, G::EdgeId)],
        taken: &[(G::NodeId, G::EdgeId)],
    ) -> Option<Steps<G::NodeId, G::EdgeId>> {
        let leave = root.last().map_or(self.from, |step| step.0);
        let closed: FxHashSet<usize> =
            root.iter().map(|step| step.0).chain([self.from]).map(|node| self.graph.to_index(node)).collect();
        let is_open =
            |step: &(G::NodeId, G::EdgeId)| !closed.contains(&self.graph.to_index(step.0)) && !taken.contains(step);
        let starts: Vec<_> = self.steps(leave).filter(is_open).collect();
        let distance_max = self.length_max.checked_sub(root.len() + 1)?;
        let distances = self.distances(&closed, starts.iter().map(|step| step.0), distance_max)?;
        let distance = |step: &(G::NodeId, G::EdgeId)| distances.get(&self.graph.to_index(step.0)).copied();
        let nearest = starts.iter().filter_map(distance).min()?;
        let mut step = starts.into_iter().filter(|step| distance(step) == Some(nearest)).min()?;
        let mut path = [root, &[step]].concat();
        for left in (0..nearest).rev() {
            step = self.steps(step.0).filter(|step| distance(step) == Some(left)).min()?;
            path.push(step);
        }
        Some(path)
    }

    fn steps(&self, node: G::NodeId) -> impl Iterator<Item = (G::NodeId, G::EdgeId)> {
        self.graph.edges(node).map(|edge| (edge.target(), edge.id()))
    }

    /// Returns the distances of nodes from the end of the path, including all nodes on the shortest paths from
    /// `starts`; none if no path is short enough.
    fn distances(
        &self,
        closed: &FxHashSet<usize>,
        starts: impl Iterator<Item = G::NodeId>,
        distance_max: usize,
    ) -> Option<FxHashMap<usize, usize>> {
        let (mut ahead, mut behind) = (Reached::of(self.graph, starts), Reached::of(self.graph, [self.to].into_iter()));
        // Layers are complete on either side, so the first meeting is on a shortest path.
        while !ahead.meets(self.graph, &behind) {
            if ahead.depth() + behind.depth() >= distance_max {
                return None;
            }
            let fewer = if ahead.last().len() <= behind.last().len() { &mut ahead } else { &mut behind };
            if !fewer.go_on(self.graph, closed) {
                return None;
            }
        }
        // From there back to the starts.
        let (mut distances, mut depth) = (behind.depths, ahead.depth());
        let is_met = |node: &G::NodeId| distances.contains_key(&self.graph.to_index(*node));
        let mut layer: Vec<G::NodeId> = ahead.last().iter().copied().filter(is_met).collect();
        while let Some(before) = depth.checked_sub(1) {
            for node in std::mem::take(&mut layer) {
                let distance = distances.get(&self.graph.to_index(node)).map_or(0, |it| it + 1);
                for next in self.graph.neighbors(node) {
                    let index = self.graph.to_index(next);
                    if ahead.depths.get(&index) == Some(&before) && distances.insert(index, distance).is_none() {
                        layer.push(next);
                    }
                }
            }
            depth = before;
        }
        Some(distances)
    }
}

/// The nodes that a search has reached from one side, layer by layer.
struct Reached<N> {
    layers: Vec<Vec<N>>,
    /// The layer of each node, by its index.
    depths: FxHashMap<usize, usize>,
}

impl<N: Copy> Reached<N> {
    fn of<G: IntoEdges<NodeId = N> + NodeIndexable>(graph: G, nodes: impl Iterator<Item = N>) -> Self {
        let mut depths = FxHashMap::default();
        let first = nodes.filter(|node| depths.insert(graph.to_index(*node), 0).is_none()).collect();
        Self { layers: vec![first], depths }
    }

    fn depth(&self) -> usize {
        self.layers.len() - 1
    }

    fn last(&self) -> &[N] {
        self.layers.last().map_or(&[], Vec::as_slice)
    }

    fn meets<G: IntoEdges<NodeId = N> + NodeIndexable>(&self, graph: G, other: &Self) -> bool {
        self.last().iter().any(|node| other.depths.contains_key(&graph.to_index(*node)))
    }

    /// Reaches the next layer; returns whether anything is in it.
    fn go_on<G: IntoEdges<NodeId = N> + NodeIndexable>(&mut self, graph: G, closed: &FxHashSet<usize>) -> bool {
        let (depth, depths) = (self.layers.len(), &mut self.depths);
        let mut layer = Vec::new();
        for node in self.layers.last().into_iter().flatten() {
            for next in graph.neighbors(*node) {
                let index = graph.to_index(next);
                if !closed.contains(&index) && !depths.contains_key(&index) {
                    depths.insert(index, depth);
                    layer.push(next);
                }
            }
        }
        let is_any = !layer.is_empty();
        self.layers.push(layer);
        is_any
    }
}

#[cfg(test)]
mod tests {
    use petgraph::graph::{EdgeIndex, NodeIndex, UnGraph};
    use proptest::prelude::*;

    use super::*;

    type Graph = UnGraph<(), (), u32>;

    /// Returns every path, by trying every edge.
    fn all(
        graph: &Graph,
        path: &mut Steps<NodeIndex, EdgeIndex>,
        closed: &mut Vec<NodeIndex>,
        to: NodeIndex,
    ) -> Vec<Steps<NodeIndex, EdgeIndex>> {
        let at = closed[closed.len() - 1];
        if at == to {
            return vec![path.clone()];
        }
        let mut found = Vec::new();
        for edge in graph.edges(at) {
            if !closed.contains(&edge.target()) {
                path.push((edge.target(), edge.id()));
                closed.push(edge.target());
                found.extend(all(graph, path, closed, to));
                closed.pop();
                path.pop();
            }
        }
        found
    }

    fn limits(paths: usize, length_max: usize) -> PathLimits {
        PathLimits { paths, length_max }
    }

    proptest! {
        #[test]
        fn they_are_the_first_of_all_paths(
            nodes in 2_usize..8,
            edges in prop::collection::vec((0_u32..8, 0_u32..8), 0..16),
            paths in 0_usize..40,
            length_max in 0_usize..8,
        ) {
            let mut graph = Graph::default();
            (0..nodes).for_each(|_| { graph.add_node(()); });
            for (a, b) in edges {
                graph.add_edge(NodeIndex::new(a as usize % nodes), NodeIndex::new(b as usize % nodes), ());
            }
            let (from, to) = (NodeIndex::new(0), NodeIndex::new(1));
            let mut due = all(&graph, &mut Vec::new(), &mut vec![from], to);
            due.retain(|path| path.len() <= length_max);
            due.sort_by_key(|path| (path.len(), path.clone()));
            due.truncate(paths);
            prop_assert_eq!(shortest_paths(&graph, from, to, limits(paths, length_max)), due);
        }
    }

    #[test]
    fn a_node_has_no_path_to_itself_and_none_leads_where_no_edge_does() {
        let mut graph = Graph::from_edges([(0, 1), (1, 0)]);
        graph.add_node(());
        let [a, b, c] = [0, 1, 2].map(NodeIndex::new);
        assert_eq!(shortest_paths(&graph, a, a, limits(3, 6)), [[]; 0]);
        assert_eq!(shortest_paths(&graph, a, c, limits(3, 6)), [[]; 0]);
        // Two edges are two paths.
        assert_eq!(shortest_paths(&graph, a, b, limits(3, 6)).len(), 2);
        assert_eq!(shortest_paths(&graph, a, b, limits(3, 0)), [[]; 0]);
    }
}
