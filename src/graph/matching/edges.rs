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
    let from = |it: &Matched| outgoing[it.outgoing];
    let edge = |it: &Matched| PassageEdge { from: from(it), to: incoming[it.incoming], matched: *it };
    // Nearly always in order: out-coming questions are numbered passage by passage.
    let mut sorted = Vec::new();
    let matched = if matched.is_sorted_by_key(from) {
        matched
    } else {
        sorted.extend_from_slice(matched);
        sorted.sort_by_key(from);
        &sorted
    };
    let (mut kept, mut cut, mut own) = (Vec::with_capacity(matched.len()), 0, Vec::new());
    for of_passage in matched.chunk_by(|a, b| from(a) == from(b)) {
        own.clear();
        own.extend(of_passage.iter().map(edge));
        own.sort_unstable_by(|a, b| a.to.cmp(&b.to).then(better(a, b)));
        own.dedup_by_key(|edge| edge.to);
        own.sort_unstable_by(better);
        cut += own.len().saturating_sub(exits);
        kept.extend(own.iter().take(exits));
    }
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
