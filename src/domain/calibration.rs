//! The meaning of a reranker's score: the probability that a passage is needed, from a logistic curve fitted to
//! questions whose passages are known (Platt, 1999).

use serde::{Deserialize, Serialize};

/// See the top of this file. A higher score is a higher probability, so that the order stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The reranker whose scores these are.
    pub reranker: String,
    /// The factor of the score, above 0.
    pub slope: f64,
    /// The constant added to that.
    pub intercept: f64,
    /// Questions that it was fitted to.
    pub questions: u64,
    /// Passages that it was fitted to.
    pub passages: u64,
}

impl Calibration {
    /// Returns the probability that a passage with this score is needed, from 0 to 1.
    #[must_use]
    pub fn probability(&self, score: f64) -> f64 {
        logistic(self.slope.mul_add(score, self.intercept))
    }

    /// Returns whether its numbers are finite and it keeps the order of scores.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.slope.is_finite() && self.intercept.is_finite() && self.slope > 0.0
    }
}

/// Returns 1/(1 + e⁻ˣ).
#[must_use]
pub fn logistic(x: f64) -> f64 {
    // The exponent is never positive, so that nothing overflows.
    let small = (-x.abs()).exp();
    if x < 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_a_probability_and_the_order_stays() {
        let of =
            |slope, intercept| Calibration { reranker: "r".to_owned(), slope, intercept, questions: 1, passages: 1 };
        let calibration = of(2.0, -1.0);
        let probabilities = [-1e30, -3.0, 0.5, 0.75, 3.0, 1e30].map(|score| calibration.probability(score));
        assert!(probabilities.is_sorted() && probabilities.iter().all(|it| (0.0..=1.0).contains(it)));
        assert_eq!((probabilities[2], logistic(f64::MIN), logistic(f64::MAX)), (0.5, 0.0, 1.0));
        assert!(calibration.is_sound() && !of(0.0, 1.0).is_sound() && !of(f64::NAN, 1.0).is_sound());
    }
}
