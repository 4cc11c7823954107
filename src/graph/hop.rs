//! The hop walk: retrieve–reason–prune over question edges (`HopRAG`, Algorithm 1).
//!
//! How well an edge or a passage fits the question is an argument: a similarity here, a model's verdict elsewhere.

use rustc_hash::FxHashMap;

use super::packed::{PassageGraph, row};
use super::top;

/// How arrivals are scaled before they are averaged with similarity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Importance {
    /// Over the sum of all arrivals (the paper's): a tie-breaker beside similarity.
    SumNormalized,
    /// Over the most arrivals at one passage.
    MaxNormalized,
}

/// How far the walk goes and what it keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HopOptions {
    /// Rounds.
    pub n_hop: u32,
    /// Passages kept.
    pub top_k: usize,
    /// Scale of arrivals.
    pub importance: Importance,
    /// Share of importance in Helpfulness, in \[0, 1\]; the paper's is ½.
    pub importance_share: f32,
}

/// One step along an edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HopStep {
    /// Where it left.
    pub from: u32,
    /// Where it arrived.
    pub to: u32,
    /// The edge, numbered over the whole graph.
    pub edge: u32,
    /// How well the edge fits the question.
    pub similarity: f32,
}

/// One round.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WalkRound {
    /// Passages in the queue.
    pub queue: u32,
    /// Edges that were judged.
    pub judged: u32,
    /// The edge taken from each passage that has one, in the queue's order.
    pub steps: Vec<HopStep>,
}

/// A passage that was arrived at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Visited {
    /// The passage.
    pub passage: u32,
    /// Helpfulness = (1 − share) · SIM + share · IMP.
    pub helpfulness: f32,
    /// Arrivals, the entry among them.
    pub arrivals: u32,
}

/// What a walk found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HopWalk {
    /// The passages kept, best first.
    pub kept: Vec<Visited>,
    /// The passages pruned, best first.
    pub pruned: Vec<Visited>,
    /// The rounds.
    pub rounds: Vec<WalkRound>,
    /// The step by which each passage that is no entry was first reached.
    pub reached: FxHashMap<u32, (u32, HopStep)>,
}

/// Walks from `entry`: each round takes the best edge of every passage in the queue; a passage seen for the first time
/// joins the next queue, one seen before counts an arrival more. Then Helpfulness keeps the best `top_k`.
///
/// Edges into passages that are not `allowed` are not there.
///
/// Complexity: each passage is expanded at most once.
pub fn walk(
    graph: PassageGraph<'_>,
    entry: &[u32],
    allowed: &dyn Fn(u32) -> bool,
    edge_similarity: &dyn Fn(u32) -> f32,
    passage_similarity: &dyn Fn(u32) -> f32,
    options: &HopOptions,
) -> HopWalk {
    let mut walk = HopWalk::default();
    let mut arrivals: FxHashMap<u32, u32> = FxHashMap::default();
    let mut queue = Vec::new();
    for &passage in entry {
        let count = arrivals.entry(passage).or_insert(0);
        *count += 1;
        if *count == 1 {
            queue.push(passage);
        }
    }
    for round in 1..=options.n_hop {
        if queue.is_empty() {
            break;
        }
        let mut taken = WalkRound { queue: queue.len() as u32, ..WalkRound::default() };
        let mut next = Vec::new();
        for &from in &queue {
            let edges = row(graph.passage_edges, from).filter(|edge| allowed(graph.edge_target[*edge]));
            let judged = edges.map(|edge| (edge as u32, edge_similarity(edge as u32))).collect::<Vec<_>>();
            taken.judged += judged.len() as u32;
            let Some(&(edge, similarity)) = top::best(judged, 1).first() else { continue };
            let step = HopStep { from, to: graph.edge_target[edge as usize], edge, similarity };
            taken.steps.push(step);
            let count = arrivals.entry(step.to).or_insert(0);
            *count += 1;
            if *count == 1 {
                next.push(step.to);
                walk.reached.insert(step.to, (round, step));
            }
        }
        walk.rounds.push(taken);
        queue = next;
    }
    prune(&mut walk, &arrivals, passage_similarity, options);
    walk
}

fn prune(walk: &mut HopWalk, arrivals: &FxHashMap<u32, u32>, similarity: &dyn Fn(u32) -> f32, options: &HopOptions) {
    let whole = match options.importance {
        Importance::SumNormalized => arrivals.values().sum::<u32>(),
        Importance::MaxNormalized => arrivals.values().copied().max().unwrap_or(1),
    };
    let share = options.importance_share;
    let helpfulness = |(&passage, &count): (&u32, &u32)| {
        let importance = count as f32 / whole as f32;
        (passage, (1.0 - share) * similarity(passage) + share * importance)
    };
    let ranked = top::best(arrivals.iter().map(helpfulness), usize::MAX);
    let visited = |(passage, helpfulness): (u32, f32)| Visited { passage, helpfulness, arrivals: arrivals[&passage] };
    let mut ranked = ranked.into_iter().map(visited);
    walk.kept = ranked.by_ref().take(options.top_k).collect();
    walk.pruned = ranked.collect();
}

impl HopWalk {
    /// Returns the steps that first led to `passage`, first step first, each with its round; empty for an entry.
    #[must_use]
    pub fn path(&self, passage: u32) -> Vec<(u32, HopStep)> {
        let mut path = Vec::new();
        let mut at = passage;
        while let Some((round, step)) = self.reached.get(&at) {
            path.push((*round, *step));
            at = step.from;
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::packed::PackedGraph;

    /// 0 → 1, 0 → 2, 1 → 2, 2 → 0; 3 has no exit.
    fn graph() -> PackedGraph {
        PackedGraph {
            passage_document: vec![0, 1, 2, 3],
            passage_edges: vec![0, 2, 3, 4, 4],
            edge_target: vec![1, 2, 2, 0],
            ..PackedGraph::default()
        }
    }

    const OPTIONS: HopOptions =
        HopOptions { n_hop: 4, top_k: 2, importance: Importance::SumNormalized, importance_share: 0.5 };

    #[test]
    fn each_round_takes_the_best_edge_and_counts_arrivals() {
        let packed = graph();
        let fits = |edge: u32| [0.9, 0.2, 0.5, 0.1][edge as usize];
        let walk = walk(packed.view(), &[0, 3], &|_| true, &fits, &|_| 0.0, &OPTIONS);
        let steps: Vec<Vec<(u32, u32)>> =
            walk.rounds.iter().map(|round| round.steps.iter().map(|step| (step.from, step.to)).collect()).collect();
        assert_eq!(steps, [vec![(0, 1)], vec![(1, 2)], vec![(2, 0)]]);
        assert_eq!(walk.rounds.iter().map(|round| round.queue).collect::<Vec<_>>(), [2, 1, 1]);
        assert_eq!(walk.kept[0], Visited { passage: 0, helpfulness: 0.5 * 2.0 / 5.0, arrivals: 2 });
        assert_eq!((walk.kept.len(), walk.pruned.len()), (2, 2));
        let path: Vec<u32> = walk.path(2).iter().map(|(_, step)| step.to).collect();
        assert_eq!(path, [1, 2]);
    }

    #[test]
    fn a_passage_that_may_not_be_shown_is_not_walked_to() {
        let packed = graph();
        let walk = walk(packed.view(), &[0], &|passage| passage != 1, &|_| 0.5, &|_| 1.0, &OPTIONS);
        assert!(walk.kept.iter().all(|visited| visited.passage != 1));
        assert_eq!(walk.rounds[0].steps[0].to, 2);
    }

    #[test]
    fn similarity_decides_where_arrivals_are_equal() {
        let packed = graph();
        let similar = |passage: u32| if passage == 3 { 0.9 } else { 0.1 };
        let walk = walk(packed.view(), &[1, 3], &|_| true, &|_| 0.0, &similar, &HopOptions { n_hop: 0, ..OPTIONS });
        assert_eq!(walk.kept[0].passage, 3);
        assert!(walk.rounds.is_empty());
    }
}
