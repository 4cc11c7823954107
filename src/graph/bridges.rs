//! Bridges: the shortest paths between consecutive key entities over relations (`HiRAG`, section on `HiRetrieval`), and
//! the relations among all entities on them.

use std::collections::BTreeSet;

use petgraph::graph::{NodeIndex, UnGraph};
use petgraph::visit::{EdgeFiltered, EdgeRef as _};

use super::hierarchy::Hierarchy;
use super::ordinal::{EntityOrdinal, Ordinal as _, RelationOrdinal};
use super::paths::{PathLimits, shortest_paths};

/// Relations between entities as one undirected graph.
#[derive(Debug)]
pub(crate) struct RelationNetwork {
    /// Each edge with the relation that it is; nodes are numbered as entities are.
    graph: UnGraph<(), RelationOrdinal, u32>,
}

/// A network in which some relations are not walked.
#[derive(Debug)]
pub(crate) struct Admitted<'a, A> {
    network: &'a RelationNetwork,
    admits: A,
}

/// Two key entities, and what joins them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bridge {
    /// The key entities.
    pub ends: [EntityOrdinal; 2],
    /// The entities of each path from one to the other, including both, shortest first; no path if they are too far
    /// apart.
    pub paths: Vec<Vec<EntityOrdinal>>,
}

impl RelationNetwork {
    /// Returns the network of all relations.
    ///
    /// # Complexity
    ///
    /// O(entities + relations) time; 8 bytes an entity and 20 a relation.
    pub(crate) fn of(hierarchy: &Hierarchy<'_>) -> Self {
        let entities = hierarchy.entity_relations.items().len().saturating_sub(1);
        let mut graph = UnGraph::with_capacity(entities, hierarchy.relation_entity.len());
        for _ in 0..entities {
            graph.add_node(());
        }
        for owner in EntityOrdinal::first(entities) {
            for relation in hierarchy.entity_relations.of(owner) {
                graph.add_edge(node(owner), node(hierarchy.relation_entity[relation]), relation);
            }
        }
        Self { graph }
    }

    /// Returns it without the relations that `admits` does not allow.
    pub(crate) fn admitted<A: Fn([EntityOrdinal; 2], RelationOrdinal) -> bool>(&self, admits: A) -> Admitted<'_, A> {
        Admitted { network: self, admits }
    }
}

impl<A: Fn([EntityOrdinal; 2], RelationOrdinal) -> bool> Admitted<'_, A> {
    /// Returns the paths from each of `keys` to the next, within `limits`. A repeated key is not joined again.
    ///
    /// # Complexity
    ///
    /// O(keys · paths · `length_max` · (entities + relations)) time at worst.
    pub(crate) fn bridges(&self, keys: &[EntityOrdinal], limits: PathLimits) -> Vec<Bridge> {
        let mut seen = BTreeSet::new();
        let keys: Vec<EntityOrdinal> = keys.iter().filter(|key| seen.insert(**key)).copied().collect();
        keys.windows(2).map(|pair| self.bridge([pair[0], pair[1]], limits)).collect()
    }

    fn bridge(&self, ends: [EntityOrdinal; 2], limits: PathLimits) -> Bridge {
        let graph = EdgeFiltered::from_fn(&self.network.graph, |edge| {
            (self.admits)([edge.source(), edge.target()].map(entity), *edge.weight())
        });
        let steps = shortest_paths(&graph, node(ends[0]), node(ends[1]), limits);
        let path = |steps: Vec<(NodeIndex, _)>| {
            let entered = steps.into_iter().map(|step| entity(step.0));
            std::iter::once(ends[0]).chain(entered).collect()
        };
        Bridge { ends, paths: steps.into_iter().map(path).collect() }
    }

    /// Returns the relations with both ends among `entities`, each once with its ends in order.
    pub(crate) fn among(&self, entities: &BTreeSet<EntityOrdinal>) -> Vec<([EntityOrdinal; 2], RelationOrdinal)> {
        let mut found = Vec::new();
        for one in entities {
            for edge in self.network.graph.edges(node(*one)) {
                let (ends, relation) = ([*one, entity(edge.target())], *edge.weight());
                if ends[0] < ends[1] && entities.contains(&ends[1]) && (self.admits)(ends, relation) {
                    found.push((ends, relation));
                }
            }
        }
        found.sort_unstable();
        found
    }
}

fn node(entity: EntityOrdinal) -> NodeIndex {
    NodeIndex::new(entity.index())
}

fn entity(node: NodeIndex) -> EntityOrdinal {
    EntityOrdinal::at(node.index())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::hierarchy::{NONE, PackedHierarchy};
    use crate::graph::ordinal::{SentenceOrdinal, listed};

    /// Returns a hierarchy with this many entities and these relations, the lower end first.
    fn packed(entities: usize, relations: &[(u32, u32)]) -> PackedHierarchy {
        let relations: BTreeSet<(u32, u32)> =
            relations.iter().filter(|it| it.0 != it.1).map(|it| (it.0.min(it.1), it.0.max(it.1))).collect();
        let mut rows = vec![0; entities + 1];
        for (owner, _) in &relations {
            rows[*owner as usize + 1] += 1;
        }
        (0..entities).for_each(|at| rows[at + 1] += rows[at]);
        PackedHierarchy {
            entity_relations: rows,
            relation_entity: listed(&relations.iter().map(|it| it.1).collect::<Vec<u32>>()),
            relation_weight: vec![1.0; relations.len()],
            relation_sentence: vec![SentenceOrdinal(NONE); relations.len()],
            ..PackedHierarchy::default()
        }
    }

    fn keys(numbers: &[u32]) -> Vec<EntityOrdinal> {
        numbers.iter().map(|it| EntityOrdinal(*it)).collect()
    }

    const LIMITS: PathLimits = PathLimits { paths: 1, length_max: 4 };

    #[test]
    fn every_pair_of_keys_that_follow_each_other_is_joined_or_said_to_be_apart() {
        let packed = packed(6, &[(0, 1), (1, 2), (2, 3), (4, 5)]);
        let network = RelationNetwork::of(&packed.view());
        let network = network.admitted(|_, _| true);
        // The second 0 adds nothing.
        let bridges = network.bridges(&keys(&[0, 3, 0, 4]), LIMITS);
        assert_eq!(bridges[0], Bridge { ends: [0, 3].map(EntityOrdinal), paths: vec![keys(&[0, 1, 2, 3])] });
        assert_eq!(bridges[1], Bridge { ends: [3, 4].map(EntityOrdinal), paths: Vec::new() });
        assert_eq!(bridges.len(), 2);
        for few in [&[][..], &[1]] {
            assert!(network.bridges(&keys(few), LIMITS).is_empty());
        }
        // Too far.
        assert!(network.bridges(&keys(&[0, 3]), PathLimits { length_max: 2, ..LIMITS })[0].paths.is_empty());
    }

    #[test]
    fn what_is_not_admitted_is_not_walked() {
        let packed = packed(4, &[(0, 1), (1, 3), (0, 2), (2, 3)]);
        let network = RelationNetwork::of(&packed.view());
        let around = network.admitted(|ends, _| !ends.contains(&EntityOrdinal(1)));
        assert_eq!(around.bridges(&keys(&[0, 3]), LIMITS)[0].paths, [keys(&[0, 2, 3])]);
        assert_eq!(around.among(&keys(&[0, 1, 2]).into_iter().collect()).len(), 1);
        // Both paths, the lower numbers first.
        let both = network.admitted(|_, _| true).bridges(&keys(&[0, 3]), PathLimits { paths: 3, ..LIMITS });
        assert_eq!(both[0].paths, [keys(&[0, 1, 3]), keys(&[0, 2, 3])]);
    }

    proptest! {
        #[test]
        fn a_bridge_is_as_short_as_all_pairs_say_and_facts_are_those_among_its_entities(
            relations in prop::collection::vec((0_u32..7, 0_u32..7), 0..14),
            length_max in 0_usize..5,
        ) {
            let packed = packed(7, &relations);
            let view = packed.view();
            let mut apart = [[100_usize; 7]; 7];
            (0..7).for_each(|at| apart[at][at] = 0);
            for (ends, ..) in view.relations() {
                let [a, b] = ends.map(super::super::ordinal::Ordinal::index);
                apart[a][b] = 1;
                apart[b][a] = 1;
            }
            for by in 0..7 {
                for a in 0..7 {
                    for b in 0..7 {
                        apart[a][b] = apart[a][b].min(apart[a][by] + apart[by][b]);
                    }
                }
            }
            let network = RelationNetwork::of(&view);
            let network = network.admitted(|_, _| true);
            for bridge in network.bridges(&keys(&[3, 0, 6, 2]), PathLimits { paths: 1, length_max }) {
                let [a, b] = bridge.ends.map(super::super::ordinal::Ordinal::index);
                let due = Some(apart[a][b]).filter(|it| *it <= length_max);
                prop_assert_eq!(bridge.paths.first().map(|path| path.len() - 1), due);
                let on_it: BTreeSet<EntityOrdinal> = bridge.paths.into_iter().flatten().collect();
                let among: Vec<[EntityOrdinal; 2]> = network.among(&on_it).into_iter().map(|it| it.0).collect();
                let due: Vec<[EntityOrdinal; 2]> =
                    view.relations().map(|it| it.0).filter(|ends| ends.iter().all(|it| on_it.contains(it))).collect();
                prop_assert_eq!(among, due);
            }
        }
    }
}
