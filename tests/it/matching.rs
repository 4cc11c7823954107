//! Matching on real text: its bounds cost next to no edge.

use cairn::graph::matching::{EdgeQuota, MatchOptions, match_questions};

use crate::support::corpus::{Asked, bundles, demo};
use crate::support::shared_data;

/// Out-coming questions that there are.
const QUESTIONS: usize = 10_000;
/// Of so many one is compared with every in-coming question.
const NTH: usize = 8;
/// Copies of the demo collection that raise so many questions.
const COPIES: usize = 48;

/// Bounds that bound nothing: every pair is compared.
const EVERY_PAIR: MatchOptions =
    MatchOptions { keyword_frequency_max: usize::MAX, neighbors: usize::MAX, quota: EdgeQuota::Best };

/// The bounds on candidates are there so that matching does not compare every pair. They must not cost edges: of the
/// out-coming questions of ten thousand, at least 99 in 100 lead to the same passage with the same SIM.
#[test]
fn the_bounds_of_matching_cost_at_most_one_edge_in_a_hundred() {
    let real = shared_data("musique-dev").and_then(|_| bundles(&["musique-dev"]));
    let asked = Asked::of(&real.unwrap_or_else(|| demo(COPIES)), QUESTIONS);
    assert!(asked.outgoing.len() >= QUESTIONS, "only {} questions", asked.outgoing.len());
    let share = share_of_equal_edges(&asked, NTH);
    assert!(share >= 0.99, "{:.2} % of the edges are those of comparing every pair", 100.0 * share);
}

fn share_of_equal_edges(asked: &Asked, nth: usize) -> f64 {
    let (some, incoming) = (asked.some_outgoing(nth), asked.incoming.view());
    let target = |matched: &cairn::graph::matching::Matched| {
        (matched.outgoing, incoming.passage[matched.incoming as usize], matched.similarity.to_bits())
    };
    let edges = |options: &MatchOptions| -> Vec<_> {
        match_questions(&some.view(), &incoming, options).iter().map(target).collect()
    };
    let (all, bounded) = (edges(&EVERY_PAIR), edges(&MatchOptions::default()));
    let equal = all.iter().filter(|edge| bounded.binary_search(edge).is_ok()).count();
    equal as f64 / all.len() as f64
}
