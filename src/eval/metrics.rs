//! Metrics of one ranked list: pure arithmetic on source ids.

use std::collections::BTreeSet;

/// The depths k at which a list is cut.
pub const DEPTHS: [usize; 5] = [1, 2, 5, 10, 20];

/// The depth of the discounted gain.
const GAIN_DEPTH: usize = 10;

/// What one ranked list scores, each in \[0, 1\]; lists of five follow [`DEPTHS`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct QuestionScores {
    /// 1 where any gold document is among the first k.
    pub hit: [f64; DEPTHS.len()],
    /// The share of the gold documents among the first k.
    pub recall: [f64; DEPTHS.len()],
    /// 1 where every gold document is among the first k.
    pub all_gold: [f64; DEPTHS.len()],
    /// The harmonic mean of precision and recall of the first k; precision is over what is there, where the list is
    /// shorter than k.
    pub f1: [f64; DEPTHS.len()],
    /// One over the place of the first gold document, 0 where there is none.
    pub reciprocal_rank: f64,
    /// Normalized discounted cumulative gain of the first ten, each gold document counting 1.
    pub ndcg: f64,
}

impl QuestionScores {
    /// Returns every metric with its name, such as `recall@5`, in the order in which they are shown.
    pub fn named(&self) -> impl Iterator<Item = (String, f64)> {
        let by_depth = [("hit", self.hit), ("recall", self.recall), ("all-gold", self.all_gold), ("f1", self.f1)];
        let at_depths = by_depth.into_iter().flat_map(|(name, values)| {
            DEPTHS.into_iter().zip(values).map(move |(depth, value)| (format!("{name}@{depth}"), value))
        });
        at_depths.chain([("mrr".to_owned(), self.reciprocal_rank), (format!("ndcg@{GAIN_DEPTH}"), self.ndcg)])
    }
}

/// Returns what the list `ranked`, best first, scores against the documents in `gold`.
///
/// An id that comes again counts at its first place only, and what follows moves up: a list of passages may so be
/// scored by its documents. All is 0 where `gold` is empty.
#[must_use]
pub fn scores(ranked: &[String], gold: &[String]) -> QuestionScores {
    let gold: BTreeSet<&str> = gold.iter().map(String::as_str).collect();
    if gold.is_empty() {
        return QuestionScores::default();
    }
    let mut seen = BTreeSet::new();
    let found: Vec<bool> =
        ranked.iter().filter(|id| seen.insert(id.as_str())).map(|id| gold.contains(id.as_str())).collect();

    let mut scores = QuestionScores { ndcg: ndcg(&found, gold.len()), ..QuestionScores::default() };
    for (slot, depth) in DEPTHS.into_iter().enumerate() {
        let retrieved = depth.min(found.len());
        let hits = found.iter().take(depth).filter(|found| **found).count();
        scores.hit[slot] = if hits > 0 { 1.0 } else { 0.0 };
        scores.recall[slot] = hits as f64 / gold.len() as f64;
        scores.all_gold[slot] = if hits == gold.len() { 1.0 } else { 0.0 };
        // 2PR / (P + R) with P = hits / retrieved and R = hits / gold, rearranged to avoid division by zero.
        scores.f1[slot] = 2.0 * hits as f64 / (retrieved + gold.len()) as f64;
    }
    if let Some(first) = found.iter().position(|found| *found) {
        scores.reciprocal_rank = 1.0 / (first + 1) as f64;
    }
    scores
}

/// Returns recall and F1 of the first `depth` of a list without repetitions, over the documents in `gold`, none twice.
#[must_use]
pub fn at_depth(ranked: &[String], gold: &[String], depth: usize) -> (f64, f64) {
    let cut = &ranked[..depth.min(ranked.len())];
    let hits = cut.iter().filter(|id| gold.contains(id)).count() as f64;
    (hits / gold.len().max(1) as f64, 2.0 * hits / (cut.len() + gold.len()).max(1) as f64)
}

/// Returns the gain of the gold documents at their places, relative to a list that begins with all of them.
fn ndcg(found: &[bool], gold_count: usize) -> f64 {
    let gain = |place: usize| 1.0 / ((place + 2) as f64).log2();
    let actual: f64 =
        found.iter().take(GAIN_DEPTH).enumerate().filter(|(_, found)| **found).map(|(i, _)| gain(i)).sum();
    let ideal: f64 = (0..gold_count.min(GAIN_DEPTH)).map(gain).sum();
    actual / ideal
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ids(text: &str) -> Vec<String> {
        text.chars().map(String::from).collect()
    }

    fn flat(scores: &QuestionScores) -> Vec<f64> {
        [&scores.recall[..], &scores.all_gold, &scores.f1, &[scores.reciprocal_rank, scores.ndcg]].concat()
    }

    /// Compares to nine decimals, so that expected values can be written by hand.
    fn check(ranked: &str, gold: &str, expect: QuestionScores) {
        let actual = scores(&ids(ranked), &ids(gold));
        let flat = |it: &QuestionScores| {
            [&it.hit[..], &it.recall, &it.all_gold, &it.f1, &[it.reciprocal_rank, it.ndcg]].concat()
        };
        for (place, (a, e)) in flat(&actual).into_iter().zip(flat(&expect)).enumerate() {
            assert!((a - e).abs() < 1e-9, "value {place} of {ranked} against {gold}: {a} is not {e}");
        }
    }

    #[test]
    fn a_list_scores_what_was_computed_by_hand() {
        // Gold at places 2 and 4 of six: gains 1/log2(3) and 1/log2(5), ideal 1 + 1/log2(3).
        let expect = QuestionScores {
            hit: [0.0, 1.0, 1.0, 1.0, 1.0],
            recall: [0.0, 0.5, 1.0, 1.0, 1.0],
            all_gold: [0.0, 0.0, 1.0, 1.0, 1.0],
            f1: [0.0, 0.5, 4.0 / 7.0, 0.5, 0.5],
            reciprocal_rank: 0.5,
            ndcg: (0.630_929_753_571_457 + 0.430_676_558_073_393) / 1.630_929_753_571_457,
        };
        check("xaybzw", "ab", expect);
        // The same list, with several passages from one document.
        check("xxaxyaabzw", "ba", expect);
    }

    #[test]
    fn a_list_without_gold_scores_nothing_and_a_perfect_one_everything() {
        check("xyz", "ab", QuestionScores::default());
        check("", "ab", QuestionScores::default());
        check("xyz", "", QuestionScores::default());
        let every = [1.0; 5];
        let expect =
            QuestionScores { hit: every, recall: every, all_gold: every, f1: every, reciprocal_rank: 1.0, ndcg: 1.0 };
        check("a", "a", expect);
    }

    #[test]
    fn gold_beyond_the_tenth_place_gains_nothing_but_is_recalled_at_twenty() {
        let expect = QuestionScores {
            hit: [0.0, 0.0, 0.0, 0.0, 1.0],
            recall: [0.0, 0.0, 0.0, 0.0, 1.0],
            all_gold: [0.0, 0.0, 0.0, 0.0, 1.0],
            f1: [0.0, 0.0, 0.0, 0.0, 2.0 / 12.0],
            reciprocal_rank: 1.0 / 11.0,
            ndcg: 0.0,
        };
        check("bcdefghijka", "a", expect);
    }

    proptest! {
        #[test]
        fn recall_never_falls_with_depth_and_every_score_lies_between_0_and_1(
            ranked in prop::collection::vec("[a-p]", 0..30),
            gold in prop::collection::vec("[a-t]", 0..6),
        ) {
            let scores = scores(&ranked, &gold);
            prop_assert!(scores.recall.is_sorted());
            prop_assert!(scores.all_gold.is_sorted());
            for value in flat(&scores) {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&value), "{value}");
            }
        }

        #[test]
        fn all_gold_is_1_exactly_where_recall_is_1(
            ranked in prop::collection::vec("[a-h]", 0..30),
            gold in prop::collection::vec("[a-h]", 1..4),
        ) {
            let scores = scores(&ranked, &gold);
            for (recall, all_gold) in scores.recall.into_iter().zip(scores.all_gold) {
                prop_assert_eq!((recall - 1.0).abs() < 1e-12, all_gold > 0.5);
            }
        }

        /// The formula with precision and recall, as usually written.
        #[test]
        fn f1_is_the_harmonic_mean_of_precision_and_recall(
            ranked in prop::sample::subsequence(ids("abcdefghijklmnopqrstuvwxyz"), 0..26).prop_shuffle(),
            gold in prop::sample::subsequence(ids("abcdefghijklmnopqrstuvwxyz"), 1..5),
        ) {
            let scores = scores(&ranked, &gold);
            for (slot, depth) in DEPTHS.into_iter().enumerate() {
                let hits = ranked.iter().take(depth).filter(|id| gold.contains(id)).count() as f64;
                let expect = if hits > 0.0 {
                    let precision = hits / depth.min(ranked.len()) as f64;
                    let recall = hits / gold.len() as f64;
                    2.0 * precision * recall / (precision + recall)
                } else {
                    0.0
                };
                prop_assert!((scores.f1[slot] - expect).abs() < 1e-12);
            }
        }
    }
}
