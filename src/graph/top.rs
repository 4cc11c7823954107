//! The best of many scores, with ties broken by number.

use std::cmp::Ordering;

/// Orders by score, best first, then by number.
#[must_use]
pub fn best_first(a: &(u32, f32), b: &(u32, f32)) -> Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

/// Returns the `k` best of `scored`, best first.
#[must_use]
pub fn best(scored: impl IntoIterator<Item = (u32, f32)>, k: usize) -> Vec<(u32, f32)> {
    let mut scored: Vec<_> = scored.into_iter().collect();
    if k == 0 {
        return Vec::new();
    }
    if scored.len() > k {
        scored.select_nth_unstable_by(k - 1, best_first);
        scored.truncate(k);
    }
    scored.sort_unstable_by(best_first);
    scored
}

/// Returns the `k` best of a list of scores by number, best first; what is not finite is left out.
#[must_use]
pub fn best_of(scores: &[f32], k: usize) -> Vec<(u32, f32)> {
    best(scores.iter().enumerate().filter(|(_, score)| score.is_finite()).map(|(i, score)| (i as u32, *score)), k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_go_to_the_smaller_number() {
        assert_eq!(best_of(&[1.0, 2.0, 2.0, 0.0], 3), vec![(1, 2.0), (2, 2.0), (0, 1.0)]);
        assert_eq!(best_of(&[1.0, f32::NEG_INFINITY], 5), vec![(0, 1.0)]);
        assert!(best_of(&[1.0], 0).is_empty());
    }
}
