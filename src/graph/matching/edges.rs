//! From matches to the edges of the passage graph.

use super::Matched;
use crate::graph::ordinal::{Column, IncomingOrdinal, OutgoingOrdinal, PassageOrdinal};

/// An edge of the passage graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassageEdge {
    /// The passage that asks.
    pub from: PassageOrdinal,
    /// The passage that answers.
    pub to: PassageOrdinal,
    /// The questions.
    pub matched: Matched,
}

/// Returns the edges of the passage graph: one for a pair of passages, and the ⌈ln n⌉ best exits of each passage (so
/// that n passages have O(n log n) edges in all), at least one; by ascending passage, best first. Also returns how many
/// exits were cut. `outgoing` and `incoming` have the passage of each question.
#[must_use]
pub fn edges(
    matched: &[Matched],
    outgoing: Column<'_, OutgoingOrdinal, PassageOrdinal>,
    incoming: Column<'_, IncomingOrdinal, PassageOrdinal>,
    passages: usize,
) -> (Vec<PassageEdge>, usize) {
    let exits = exits_max(passages);
    let mut edges: Vec<PassageEdge> = matched
        .iter()
        .map(|matched| PassageEdge {
            from: outgoing[matched.outgoing],
            to: incoming[matched.incoming],
            matched: *matched,
        })
        .collect();
    edges.sort_unstable_by(|a, b| (a.from, a.to).cmp(&(b.from, b.to)).then(better(a, b)));
    edges.dedup_by_key(|edge| (edge.from, edge.to));
    edges.sort_unstable_by(|a, b| a.from.cmp(&b.from).then(better(a, b)));
    let all = edges.len();
    let kept: Vec<_> =
        edges.chunk_by(|a, b| a.from == b.from).flat_map(|vertex| vertex.iter().take(exits).copied()).collect();
    let cut = all - kept.len();
    (kept, cut)
}

/// Returns ⌈ln n⌉, at least 1.
fn exits_max(passages: usize) -> usize {
    let mut exits = 1;
    while (exits as f64).exp() < passages as f64 {
        exits += 1;
    }
    exits
}

/// Orders by similarity, best first, then by numbers, so that ties do not depend on how the edges were found.
fn better(a: &PassageEdge, b: &PassageEdge) -> std::cmp::Ordering {
    let numbers = |edge: &PassageEdge| (edge.to, edge.matched.outgoing, edge.matched.incoming);
    b.matched.similarity.total_cmp(&a.matched.similarity).then_with(|| numbers(a).cmp(&numbers(b)))
}
