//! The hop walk: retrieve–reason–prune over question edges (`HopRAG`, Algorithm 1).
//!
//! The value of an edge and the fit of a passage are arguments: similarities here, a model's verdicts elsewhere.

use rustc_hash::FxHashMap;

use super::ordinal::{EdgeOrdinal, PassageOrdinal};
use super::packed::PassageGraph;
use super::top;

/// What arrivals at a passage are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Importance {
    /// Their count over the sum of all (the paper's): a tie-breaker for similarity.
    Counted,
    /// The best of them: the weight of the source passage times the value of the edge. The weight of an entry is given;
    /// that of another passage is its first arrival.
    Carried,
}

/// How far the walk goes and what it keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HopOptions {
    /// Rounds.
    pub n_hop: u32,
    /// Passages kept.
    pub top_k: usize,
    /// Worth of arrivals.
    pub importance: Importance,
    /// The value that an edge must exceed to be taken.
    pub worth_min: f32,
}

/// A passage where a walk starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Start {
    /// The passage.
    pub passage: PassageOrdinal,
    /// Its weight.
    pub weight: f32,
}

/// One step along an edge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HopStep {
    /// Its source.
    pub from: PassageOrdinal,
    /// Its target.
    pub to: PassageOrdinal,
    /// The edge, numbered over the whole graph.
    pub edge: EdgeOrdinal,
    /// The value of the edge for the question.
    pub worth: f32,
}

/// One round.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct WalkRound {
    /// Passages in the queue.
    pub queue: u32,
    /// Edges that were judged.
    pub judged: u32,
    /// The edges taken, by the passages that they leave in the order of the queue.
    pub steps: Vec<HopStep>,
}

/// A passage that was arrived at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Visited {
    /// The passage.
    pub passage: PassageOrdinal,
    /// Helpfulness = (SIM + IMP) / 2.
    pub helpfulness: f32,
    /// Arrivals, the entry among them.
    pub arrivals: u32,
}

/// The result of a walk.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct HopWalk {
    /// The passages kept, best first.
    pub kept: Vec<Visited>,
    /// The passages pruned, best first.
    pub pruned: Vec<Visited>,
    /// The rounds.
    pub rounds: Vec<WalkRound>,
    /// The step by which each passage other than an entry was first reached, with its round.
    pub reached: FxHashMap<PassageOrdinal, (u32, HopStep)>,
    /// The step that carried most to each passage, with its round, where arrivals carry.
    pub carried: FxHashMap<PassageOrdinal, (u32, HopStep)>,
}

/// The evidence of a question for a walk.
pub(crate) struct Reasoning<'a> {
    /// Whether a passage may be shown and walked to.
    pub is_allowed: &'a dyn Fn(PassageOrdinal) -> bool,
    /// The value of an edge from a passage.
    pub edge_worth: &'a dyn Fn(PassageOrdinal, EdgeOrdinal) -> f32,
    /// SIM of a passage.
    pub passage_similarity: &'a dyn Fn(PassageOrdinal) -> f32,
}

/// The state of a passage during a walk.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    arrivals: u32,
    /// What its exits carry on.
    weight: f32,
    /// The most that an arrival carried to it.
    carried: f32,
}

/// A walk between two rounds: the caller passes the steps of a round to [`Self::advance`].
#[derive(Debug, Clone)]
pub(crate) struct Walking {
    options: HopOptions,
    walk: HopWalk,
    seen: FxHashMap<PassageOrdinal, Seen>,
    queue: Vec<PassageOrdinal>,
}

/// Walks from `starts`: each round takes the best edge of every passage in the queue; a passage seen for the first time
/// joins the next queue, one seen before counts an arrival more. Then Helpfulness keeps the best `top_k`.
///
/// Complexity: each passage is expanded at most once.
#[must_use]
pub(crate) fn walk(
    graph: PassageGraph<'_>,
    starts: &[Start],
    reasoning: &Reasoning<'_>,
    options: &HopOptions,
) -> HopWalk {
    let mut walking = Walking::begin(starts, options);
    while !walking.queue().is_empty() {
        let mut taken = WalkRound::default();
        for &from in walking.queue() {
            let exits = exits(graph, from, reasoning);
            taken.judged += exits.len() as u32;
            taken.steps.extend(best_exit(&exits, options));
        }
        walking.advance(taken);
    }
    walking.finish(reasoning.passage_similarity)
}

/// Returns every step from a passage that may be taken, best first.
#[must_use]
pub(crate) fn exits(graph: PassageGraph<'_>, from: PassageOrdinal, reasoning: &Reasoning<'_>) -> Vec<HopStep> {
    let edges = graph.passage_edges.of(from).filter(|edge| (reasoning.is_allowed)(graph.edge_target[*edge]));
    let judged = edges.map(|edge| (edge, (reasoning.edge_worth)(from, edge)));
    let step = |(edge, worth): (EdgeOrdinal, f32)| HopStep { from, to: graph.edge_target[edge], edge, worth };
    top::best(judged, usize::MAX).into_iter().map(step).collect()
}

/// Returns the step that similarity takes of those that [`exits`] returns.
#[must_use]
pub(crate) fn best_exit(exits: &[HopStep], options: &HopOptions) -> Option<HopStep> {
    exits.first().copied().filter(|step| step.worth > options.worth_min)
}

impl Walking {
    /// Begins a walk.
    #[must_use]
    pub(crate) fn begin(starts: &[Start], options: &HopOptions) -> Self {
        let mut walking =
            Self { options: *options, walk: HopWalk::default(), seen: FxHashMap::default(), queue: Vec::new() };
        for start in starts {
            let entry = walking.seen.entry(start.passage).or_default();
            entry.arrivals += 1;
            if entry.arrivals == 1 {
                entry.weight = start.weight;
                walking.queue.push(start.passage);
            }
        }
        walking
    }

    /// Returns the passages to be left in the next round, in order; none at the end.
    #[must_use]
    pub(crate) fn queue(&self) -> &[PassageOrdinal] {
        if self.walk.rounds.len() < self.options.n_hop as usize { &self.queue } else { &[] }
    }

    /// Keeps of the queue, in its order, only the `count` passages that `score` has highest.
    pub(crate) fn narrow(&mut self, count: usize, score: impl Fn(PassageOrdinal) -> f32) {
        let best = top::best(self.queue.iter().map(|passage| (*passage, score(*passage))), count);
        self.queue.retain(|passage| best.iter().any(|it| it.0 == *passage));
    }

    /// Takes the steps of a round, each from a passage of the queue and in its order. A passage that was not seen
    /// before joins the next queue.
    pub(crate) fn advance(&mut self, taken: WalkRound) {
        let round = self.walk.rounds.len() as u32 + 1;
        let mut next = Vec::new();
        for &step in &taken.steps {
            let amount = self.seen.get(&step.from).map_or(0.0, |seen| seen.weight) * step.worth;
            let target = self.seen.entry(step.to).or_default();
            target.arrivals += 1;
            if target.arrivals == 1 {
                target.weight = amount;
                next.push(step.to);
                self.walk.reached.insert(step.to, (round, step));
            }
            if self.options.importance == Importance::Carried && amount > target.carried {
                target.carried = amount;
                self.walk.carried.insert(step.to, (round, step));
            }
        }
        self.walk.rounds.push(WalkRound { queue: self.queue.len() as u32, ..taken });
        self.queue = next;
    }

    /// Ends the walk and keeps the best, by their Helpfulness.
    #[must_use]
    pub(crate) fn finish(self, passage_similarity: &dyn Fn(PassageOrdinal) -> f32) -> HopWalk {
        let Self { options, mut walk, seen, .. } = self;
        prune(&mut walk, &seen, passage_similarity, &options);
        walk
    }
}

fn prune(
    walk: &mut HopWalk,
    seen: &FxHashMap<PassageOrdinal, Seen>,
    passage_similarity: &dyn Fn(PassageOrdinal) -> f32,
    options: &HopOptions,
) {
    let all = seen.values().map(|seen| seen.arrivals).sum::<u32>() as f32;
    let helpfulness = |(&passage, seen): (&PassageOrdinal, &Seen)| {
        let importance = match options.importance {
            Importance::Counted => seen.arrivals as f32 / all,
            Importance::Carried => seen.carried,
        };
        (passage, f32::midpoint(passage_similarity(passage), importance))
    };
    let ranked = top::best(seen.iter().map(helpfulness), usize::MAX);
    let visited = |(passage, helpfulness): (PassageOrdinal, f32)| Visited {
        passage,
        helpfulness,
        arrivals: seen.get(&passage).map_or(0, |seen| seen.arrivals),
    };
    let mut ranked = ranked.into_iter().map(visited);
    walk.kept = ranked.by_ref().take(options.top_k).collect();
    walk.pruned = ranked.collect();
}

impl HopWalk {
    /// Returns the steps that led to `passage`, first step first, each with its round: the last is the one that carried
    /// most, or else the one that first reached it. Empty for an entry that nothing was carried to.
    #[must_use]
    pub(crate) fn path(&self, passage: PassageOrdinal) -> Vec<(u32, HopStep)> {
        let mut path = Vec::new();
        let mut last = self.carried.get(&passage).or_else(|| self.reached.get(&passage));
        while let Some((round, step)) = last {
            path.push((*round, *step));
            last = self.reached.get(&step.from);
        }
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::super::ordinal::listed;
    use super::*;
    use crate::graph::packed::PackedGraph;

    /// 0 → 1, 0 → 2, 1 → 2, 2 → 0; 3 has no exit.
    fn graph() -> PackedGraph {
        PackedGraph {
            passage_document: listed(&[0, 1, 2, 3]),
            passage_edges: vec![0, 2, 3, 4, 4],
            edge_target: listed(&[1, 2, 2, 0]),
            ..PackedGraph::default()
        }
    }

    const COUNTED: HopOptions =
        HopOptions { n_hop: 4, top_k: 2, importance: Importance::Counted, worth_min: f32::NEG_INFINITY };

    fn starts(passages: &[u32]) -> Vec<Start> {
        passages.iter().map(|passage| Start { passage: PassageOrdinal(*passage), weight: 1.0 }).collect()
    }

    /// Walks with edges of the value `worth`, by number, and passages of the similarity `similar`.
    fn walked(
        from: &[Start],
        worth: [f32; 4],
        similar: &dyn Fn(PassageOrdinal) -> f32,
        options: &HopOptions,
    ) -> HopWalk {
        let edge_worth = |_, edge: EdgeOrdinal| worth[edge.0 as usize];
        let reasoning = Reasoning { is_allowed: &|_| true, edge_worth: &edge_worth, passage_similarity: similar };
        walk(graph().view(), from, &reasoning, options)
    }

    fn steps(walk: &HopWalk) -> Vec<Vec<(u32, u32)>> {
        walk.rounds.iter().map(|round| round.steps.iter().map(|step| (step.from.0, step.to.0)).collect()).collect()
    }

    fn path(walk: &HopWalk, passage: u32) -> Vec<u32> {
        walk.path(PassageOrdinal(passage)).iter().map(|(_, step)| step.to.0).collect()
    }

    #[test]
    fn each_round_takes_the_best_edge_and_counts_arrivals() {
        let walk = walked(&starts(&[0, 3]), [0.9, 0.2, 0.5, 0.1], &|_| 0.0, &COUNTED);
        assert_eq!(steps(&walk), [vec![(0, 1)], vec![(1, 2)], vec![(2, 0)]]);
        assert_eq!(walk.rounds.iter().map(|round| round.queue).collect::<Vec<_>>(), [2, 1, 1]);
        assert_eq!(walk.kept[0], Visited { passage: PassageOrdinal(0), helpfulness: 0.5 * 2.0 / 5.0, arrivals: 2 });
        assert_eq!((walk.kept.len(), walk.pruned.len()), (2, 2));
        assert_eq!(path(&walk, 2), [1, 2]);
    }

    #[test]
    fn what_arrives_is_what_was_carried_along_good_edges() {
        let options = HopOptions { importance: Importance::Carried, worth_min: 0.0, top_k: 4, ..COUNTED };
        let from = [(0, 0.8), (1, 0.1)].map(|(passage, weight)| Start { passage: PassageOrdinal(passage), weight });
        let walk = walked(&from, [0.5, 0.2, 0.9, -0.1], &|_| 0.0, &options);
        assert_eq!(steps(&walk), [vec![(0, 1), (1, 2)], vec![]], "an edge worth nothing is not taken");
        let helpfulness: Vec<(u32, f32)> = walk.kept.iter().map(|it| (it.passage.0, it.helpfulness)).collect();
        assert_eq!(helpfulness, [(1, 0.5 * 0.8 * 0.5), (2, 0.5 * 0.1 * 0.9), (0, 0.0)]);
        assert_eq!(path(&walk, 1), [1], "an entry shows what was carried to it");
        assert_eq!(path(&walk, 2), [2], "what an entry carries is its own");
    }

    #[test]
    fn a_passage_that_may_not_be_shown_is_not_walked_to() {
        let reasoning =
            Reasoning { is_allowed: &|passage| passage != 1, edge_worth: &|_, _| 0.5, passage_similarity: &|_| 1.0 };
        let walk = walk(graph().view(), &starts(&[0]), &reasoning, &COUNTED);
        assert!(walk.kept.iter().all(|visited| visited.passage != 1));
        assert_eq!(walk.rounds[0].steps[0].to, 2);
    }

    #[test]
    fn a_walk_takes_the_steps_that_it_is_told_and_leaves_no_passage_twice() {
        let step = |from, to, edge| HopStep {
            from: PassageOrdinal(from),
            to: PassageOrdinal(to),
            edge: EdgeOrdinal(edge),
            worth: 0.5,
        };
        let mut walking = Walking::begin(&starts(&[0, 3]), &COUNTED);
        let told = vec![step(0, 1, 0), step(0, 2, 1)];
        walking.advance(WalkRound { judged: 2, steps: told.clone(), ..WalkRound::default() });
        assert_eq!(walking.queue(), [1, 2], "several steps may leave a passage");
        walking.narrow(1, |passage| passage.0 as f32);
        assert_eq!(walking.queue(), [2]);
        walking.advance(WalkRound { judged: 1, steps: vec![step(2, 0, 3)], ..WalkRound::default() });
        assert!(walking.queue().is_empty(), "a passage seen before is not left again");
        let walk = walking.finish(&|_| 0.0);
        assert_eq!(walk.rounds.iter().map(|it| it.queue).collect::<Vec<_>>(), [2, 1]);
        assert_eq!((walk.rounds[0].steps.clone(), walk.kept[0].arrivals), (told, 2));
    }

    #[test]
    fn similarity_decides_where_arrivals_are_equal() {
        let similar = |passage: PassageOrdinal| if passage == 3 { 0.9 } else { 0.1 };
        let walk = walked(&starts(&[1, 3]), [0.0; 4], &similar, &HopOptions { n_hop: 0, ..COUNTED });
        assert_eq!(walk.kept[0].passage, 3);
        assert!(walk.rounds.is_empty());
    }
}
