//! The best of many scores, with ties broken by number.

use std::cmp::Ordering;

use super::ordinal::Ordinal;

/// Minimum number of scores per selection.
const ROOM_MIN: usize = 256;

/// Orders by score, best first, then by number.
#[must_use]
pub(crate) fn best_first<K: Ord>(a: &(K, f32), b: &(K, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

/// Returns the `k` best of `scored`, best first.
#[must_use]
pub(crate) fn best<K: Copy + Ord>(scored: impl IntoIterator<Item = (K, f32)>, k: usize) -> Vec<(K, f32)> {
    if k == 0 {
        return Vec::new();
    }
    let most = k.saturating_mul(2).max(ROOM_MIN);
    let mut kept = Vec::new();
    // Scores not above this cannot be among the best any more.
    let mut last: Option<(K, f32)> = None;
    for candidate in scored {
        if last.is_some_and(|last| best_first(&candidate, &last).is_ge()) {
            continue;
        }
        kept.push(candidate);
        if kept.len() >= most {
            kept.select_nth_unstable_by(k - 1, best_first);
            kept.truncate(k);
            last = kept.last().copied();
        }
    }
    kept.sort_unstable_by(best_first);
    kept.truncate(k);
    kept
}

/// Returns the `k` best of a list of scores by number, best first; scores that are not finite are left out.
#[must_use]
pub(crate) fn best_of<K: Ordinal>(scores: &[f32], k: usize) -> Vec<(K, f32)> {
    best(scores.iter().enumerate().filter(|(_, score)| score.is_finite()).map(|(i, score)| (K::at(i), *score)), k)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ties_go_to_the_smaller_number() {
        assert_eq!(best_of(&[1.0, 2.0, 2.0, 0.0], 3), vec![(1u32, 2.0), (2, 2.0), (0, 1.0)]);
        assert_eq!(best_of(&[1.0, f32::NEG_INFINITY], 5), vec![(0u32, 1.0)]);
        assert!(best_of::<u32>(&[1.0], 0).is_empty());
    }

    proptest! {
        #[test]
        fn the_best_are_the_first_of_all_in_order(
            scores in prop::collection::vec((-4i8..4).prop_map(f32::from), 0..1_500),
            k in 0usize..400,
        ) {
            let mut all: Vec<_> = (0u32..).zip(scores.iter().copied()).collect();
            all.sort_by(best_first);
            all.truncate(k);
            prop_assert_eq!(best_of(&scores, k), all);
        }
    }
}
