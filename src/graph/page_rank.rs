//! Personalised `PageRank` over passages and entities (`HippoRAG`, section on online retrieval), by power iteration.
//!
//! A random walker goes from a passage to an entity that it mentions, or to one that its document is named after, and
//! from there to another such passage; at each step it restarts from the question with a probability of `1 − damping`.
//! Passages are ranked by how often the walker visits them. An entity that leads nowhere else is left out.

use super::ordinal::{EntityOrdinal, Ordinal as _, PassageOrdinal};
use super::packed::PassageGraph;

/// Bearers of a name from which on it names none of them: its mentions alone count.
const BEARERS_MAX: usize = 8;
/// Weight of the only document with a name relative to one that mentions it.
const BEARER_WORTH: f64 = 2.0;

/// How a rank is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PageRankOptions {
    /// The probability to continue rather than to restart.
    pub damping: f64,
    /// Rounds at most.
    pub rounds_max: u32,
    /// The change of all ranks together with which it ends.
    pub change_min: f64,
}

/// Probabilities of starts and restarts: one number per passage and per entity, none negative.
#[derive(Debug, Clone, Default)]
pub(crate) struct Restart {
    pub passages: Vec<f64>,
    pub entities: Vec<f64>,
}

/// How often the walker visits each node, and convergence data.
#[derive(Debug, Clone, Default)]
pub(crate) struct PageRanks {
    /// By passage; 0 if unreachable.
    pub passages: Vec<f64>,
    /// Rounds that it took.
    pub rounds: u32,
}

/// Passages and the entities that join them, each edge with its weight.
#[derive(Debug)]
pub(crate) struct NameGraph {
    /// Edges of each entity: rows of `edges`.
    rows: Vec<usize>,
    edges: Vec<(PassageOrdinal, f64)>,
    /// The sum of the weights of each passage's edges.
    passages: Vec<f64>,
    /// That of each entity's.
    entities: Vec<f64>,
}

impl NameGraph {
    /// Returns the graph of the passages that `admits` allows. A passage that mentions an entity is connected to it
    /// with the weight `ln(1 + documents / documents that mention it)`, so that an entity that is everywhere leads
    /// nowhere in particular; a document with its name, with twice that over the root of their number.
    ///
    /// # Complexity
    ///
    /// O(mentions) time and memory.
    pub(crate) fn of(graph: PassageGraph<'_>, admits: impl Fn(PassageOrdinal) -> bool) -> Self {
        let documents = graph.document_count() as f64;
        let (mut rows, mut edges) = (vec![0], Vec::new());
        let mut passages = vec![0.0; graph.passage_count()];
        let mut entities = Vec::with_capacity(graph.entity_documents.len());
        for entity in graph.entity_documents.ordinals() {
            let first = edges.len();
            let rarity = (1.0 + documents / f64::from(graph.entity_documents[entity].max(1))).ln();
            let mentioned = graph.posting_passage.of(graph.entity_mentions.of(entity)).chunk_by(PartialEq::eq);
            edges.extend(mentioned.map(|same| same[0]).filter(|it| admits(*it)).map(|passage| (passage, rarity)));
            let bearers = graph.entity_bearers.of(entity);
            if bearers.len() <= BEARERS_MAX {
                let weight = BEARER_WORTH * rarity / (bearers.len().max(1) as f64).sqrt();
                let borne = bearers.map(|bearer| graph.bearer_passage[bearer]).filter(|it| admits(*it));
                edges.extend(borne.map(|passage| (passage, weight)));
            }
            let own = &edges[first..];
            if own.iter().all(|edge| edge.0 == own[0].0) {
                edges.truncate(first);
            }
            let own = &edges[first..];
            for (passage, weight) in own {
                passages[passage.index()] += weight;
            }
            entities.push(own.iter().map(|edge| edge.1).sum());
            rows.push(edges.len());
        }
        Self { rows, edges, passages, entities }
    }

    /// Returns whether an entity leads anywhere.
    pub(crate) fn joins(&self, entity: EntityOrdinal) -> bool {
        self.entities[entity.index()] > 0.0
    }

    /// Returns the ranks of all passages; none if the walker has no start.
    ///
    /// # Complexity
    ///
    /// O(rounds · edges) time.
    pub(crate) fn page_rank(&self, restart: &Restart, options: &PageRankOptions) -> PageRanks {
        let total: f64 = restart.passages.iter().chain(&restart.entities).sum();
        if total.is_nan() || total <= 0.0 {
            return PageRanks { passages: vec![0.0; self.passages.len()], rounds: 0 };
        }
        let shares = |weights: &[f64]| weights.iter().map(|it| it / total).collect::<Vec<f64>>();
        let restart = [shares(&restart.passages), shares(&restart.entities)];
        let mut ranks = restart.clone();
        let mut rounds = 0;
        while rounds < options.rounds_max {
            rounds += 1;
            let next = self.round(&ranks, &restart, options.damping);
            let change: f64 = next.iter().flatten().zip(ranks.iter().flatten()).map(|(a, b)| (a - b).abs()).sum();
            ranks = next;
            if change <= options.change_min {
                break;
            }
        }
        let [passages, _] = ranks;
        PageRanks { passages, rounds }
    }

    /// Returns the ranks after one more step. At a dead end, the walker restarts.
    fn round(&self, [passages, entities]: &[Vec<f64>; 2], restart: &[Vec<f64>; 2], damping: f64) -> [Vec<f64>; 2] {
        let stuck =
            |ranks: &[f64], sums: &[f64]| ranks.iter().zip(sums).filter(|it| *it.1 <= 0.0).map(|it| it.0).sum::<f64>();
        let stuck = stuck(passages, &self.passages) + stuck(entities, &self.entities);
        let anew = 1.0 - damping + damping * stuck;
        let mut next = restart.each_ref().map(|restart| restart.iter().map(|it| it * anew).collect::<Vec<f64>>());
        for (entity, row) in self.rows.windows(2).enumerate() {
            let left =
                if self.entities[entity] > 0.0 { damping * entities[entity] / self.entities[entity] } else { 0.0 };
            let mut arriving = 0.0;
            for (passage, weight) in &self.edges[row[0]..row[1]] {
                let passage = passage.index();
                arriving += weight * passages[passage] / self.passages[passage];
                next[0][passage] += weight * left;
            }
            next[1][entity] += damping * arriving;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::ordinal::listed;
    use crate::graph::packed::PackedGraph;

    const OPTIONS: PageRankOptions = PageRankOptions { damping: 0.8, rounds_max: 200, change_min: 1e-12 };

    /// A graph with one passage per document, and these mentions of entities.
    fn packed(passages: usize, entities: usize, mentions: &[(usize, usize)]) -> PackedGraph {
        let numbers = |count: usize| (0..count as u32).collect::<Vec<u32>>();
        let mut mentions: Vec<(u32, u32)> = mentions
            .iter()
            .map(|(passage, entity)| ((entity % entities) as u32, (passage % passages) as u32))
            .collect();
        mentions.sort_unstable();
        let mut rows = vec![0; entities + 1];
        for (entity, _) in &mentions {
            rows[*entity as usize + 1] += 1;
        }
        (0..entities).for_each(|at| rows[at + 1] += rows[at]);
        let documents = |entity: u32| {
            let mut of: Vec<u32> = mentions.iter().filter(|it| it.0 == entity).map(|it| it.1).collect();
            of.dedup();
            of.len() as u32
        };
        PackedGraph {
            document_passages: numbers(passages + 1),
            passage_document: listed(&numbers(passages)),
            entity_documents: numbers(entities).into_iter().map(documents).collect(),
            entity_bearers: vec![0; entities + 1],
            entity_mentions: rows,
            posting_passage: listed(&mentions.iter().map(|it| it.1).collect::<Vec<u32>>()),
            ..PackedGraph::default()
        }
    }

    /// The same with a matrix of all pairs.
    fn twin(graph: PassageGraph<'_>, restart: &Restart, rounds: u32) -> Vec<f64> {
        let (passages, entities) = (graph.passage_count(), graph.entity_documents.len());
        let count = passages + entities;
        let mut weights = vec![vec![0.0; count]; count];
        for entity in graph.entity_documents.ordinals() {
            let mut of = graph.posting_passage.of(graph.entity_mentions.of(entity)).to_vec();
            of.dedup();
            let documents = graph.entity_documents[entity].max(1);
            for passage in of.iter().filter(|_| of.len() > 1) {
                let weight = (1.0 + passages as f64 / f64::from(documents)).ln();
                weights[passage.index()][passages + entity.index()] = weight;
                weights[passages + entity.index()][passage.index()] = weight;
            }
        }
        let all: Vec<f64> = restart.passages.iter().chain(&restart.entities).copied().collect();
        let total: f64 = all.iter().sum();
        let restart: Vec<f64> = all.iter().map(|it| it / total).collect();
        let mut ranks = restart.clone();
        for _ in 0..rounds {
            let mut next = vec![0.0; count];
            for from in 0..count {
                let sum: f64 = weights[from].iter().sum();
                for to in 0..count {
                    let share = if sum > 0.0 { weights[from][to] / sum } else { restart[to] };
                    next[to] += ranks[from] * (OPTIONS.damping * share + (1.0 - OPTIONS.damping) * restart[to]);
                }
            }
            ranks = next;
        }
        ranks.truncate(passages);
        ranks
    }

    proptest! {
        #[test]
        fn ranks_are_those_of_the_whole_matrix(
            mentions in prop::collection::vec((0_usize..6, 0_usize..5), 0..24),
            seeds in prop::collection::vec(0_u8..4, 11),
        ) {
            let packed = packed(6, 5, &mentions);
            let mut weights = seeds.into_iter().map(f64::from);
            let restart = Restart { passages: weights.by_ref().take(6).collect(), entities: weights.collect() };
            let found = NameGraph::of(packed.view(), |_| true).page_rank(&restart, &OPTIONS);
            let all: f64 = restart.passages.iter().chain(&restart.entities).sum();
            if all > 0.0 {
                let due = twin(packed.view(), &restart, found.rounds);
                prop_assert!(found.passages.iter().zip(&due).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} {due:?}");
            } else {
                prop_assert!(found.passages.iter().all(|it| *it == 0.0));
            }
        }
    }

    #[test]
    fn what_shares_a_rare_name_with_the_seed_comes_before_what_shares_a_common_one() {
        // Entity 0 is in all four passages, entity 1 in 0 and 3.
        let packed = packed(4, 2, &[(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (3, 1)]);
        let restart = Restart { passages: vec![1.0, 0.0, 0.0, 0.0], entities: vec![0.0; 2] };
        let graph = NameGraph::of(packed.view(), |_| true);
        let ranks = graph.page_rank(&restart, &OPTIONS).passages;
        assert!(ranks[0] > ranks[3] && ranks[3] > ranks[1] && (ranks[1] - ranks[2]).abs() < 1e-12, "{ranks:?}");
        // Passages that may not be shown are not walked through.
        let graph = NameGraph::of(packed.view(), |it| it.0 != 3);
        let ranks = graph.page_rank(&restart, &OPTIONS).passages;
        assert!(ranks[3] == 0.0 && !graph.joins(EntityOrdinal(1)), "{ranks:?}");
    }

    #[test]
    fn rounds_are_bounded() {
        let packed = packed(2, 1, &[(0, 0), (1, 0)]);
        let restart = Restart { passages: vec![1.0, 0.0], entities: vec![0.0] };
        let options = PageRankOptions { damping: 1.0, rounds_max: 7, change_min: 0.0 };
        let found = NameGraph::of(packed.view(), |_| true).page_rank(&restart, &options);
        assert_eq!(found.rounds, 7);
    }
}
