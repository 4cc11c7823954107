//! The listwise fit: weights that rank each gold passage before the passages that compete with it.
//!
//! Softmax over one gold passage and all that are not gold, −log of its share averaged over the gold passages; Adam
//! with a falling rate, and weights of the wrong sign set to 0 after every step. Sums are taken in the order of the
//! groups, so the same groups give the same weights on any number of threads.

use rayon::prelude::*;

/// Features of a passage and of the edge that leads to it.
pub(super) const FEATURES: usize = 16;
/// Features of a passage alone: the first ones.
pub(super) const PASSAGE_FEATURES: usize = 6;

/// A weight for each feature.
pub(super) type Weights = [f64; FEATURES];

/// Steps of gradient descent.
const STEPS: i32 = 250;
/// The learning rate of the first step.
const RATE: f64 = 0.15;
/// Steps after which the learning rate is halved.
const HALVED_AFTER: f64 = 60.0;
/// Decay rates of the mean of the gradient, and of its square.
const DECAY: (f64, f64) = (0.9, 0.99);

/// The passages that compete for one question.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Group {
    /// Their features, those of the gold passages first.
    pub(super) rows: Vec<[f32; FEATURES]>,
    /// How many are gold; at least one.
    pub(super) gold: usize,
    /// The weight of the question relative to others.
    pub(super) weight: f64,
}

/// Constraints on the weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Features that are fitted; the others have weight 0.
    pub(super) is_fitted: [bool; FEATURES],
    /// Features that may only lower the score of a passage; the others may only raise it.
    pub(super) is_negative: [bool; FEATURES],
}

/// Returns the weights that fit `groups`, starting from `start`; `l2` keeps them small.
pub(super) fn fit(groups: &[Group], bounds: &Bounds, start: &Weights, l2: f64) -> Weights {
    let mut weights = *start;
    let (mut mean, mut square) = ([0.0; FEATURES], [0.0; FEATURES]);
    for step in 1..=STEPS {
        let gradient = gradient(groups, &weights, l2);
        let (mean_share, square_share) = (1.0 - DECAY.0.powi(step), 1.0 - DECAY.1.powi(step));
        let rate = RATE / (1.0 + f64::from(step) / HALVED_AFTER);
        for i in 0..FEATURES {
            mean[i] = DECAY.0 * mean[i] + (1.0 - DECAY.0) * gradient[i];
            square[i] = DECAY.1 * square[i] + (1.0 - DECAY.1) * gradient[i] * gradient[i];
            weights[i] -= rate * (mean[i] / mean_share) / ((square[i] / square_share).sqrt() + 1e-8);
            let is_wrong = if bounds.is_negative[i] { weights[i] > 0.0 } else { weights[i] < 0.0 };
            if is_wrong || !bounds.is_fitted[i] {
                weights[i] = 0.0;
            }
        }
    }
    weights
}

fn gradient(groups: &[Group], weights: &Weights, l2: f64) -> Weights {
    let all: f64 = groups.iter().map(|group| group.weight).sum();
    let parts: Vec<Weights> = groups.par_iter().map(|group| group.gradient(weights)).collect();
    let mut gradient = weights.map(|weight| l2 * weight);
    for (group, part) in groups.iter().zip(parts) {
        for (sum, value) in gradient.iter_mut().zip(part) {
            *sum += group.weight / all.max(f64::MIN_POSITIVE) * value;
        }
    }
    gradient
}

impl Group {
    /// Returns the gradient of this group's loss, without the group's weight.
    fn gradient(&self, weights: &Weights) -> Weights {
        let scores: Vec<f64> = self.rows.iter().map(|row| dot(row, weights)).collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut others = [0.0; FEATURES];
        let mut others_sum = 0.0;
        for (row, score) in self.rows.iter().zip(&scores).skip(self.gold) {
            let share = (score - most).exp();
            others_sum += share;
            add(&mut others, row, share);
        }
        let mut gradient = [0.0; FEATURES];
        let mut inverse_sum = 0.0;
        for (row, score) in self.rows.iter().zip(&scores).take(self.gold) {
            let whole = (others_sum + (score - most).exp()).max(f64::MIN_POSITIVE);
            inverse_sum += 1.0 / whole;
            add(&mut gradient, row, -others_sum / whole);
        }
        for (sum, value) in gradient.iter_mut().zip(others) {
            *sum = (*sum + value * inverse_sum) / self.gold.max(1) as f64;
        }
        gradient
    }
}

/// Returns the weighted sum of features.
pub(super) fn dot(row: &[f32; FEATURES], weights: &Weights) -> f64 {
    row.iter().zip(weights).map(|(value, weight)| f64::from(*value) * weight).sum()
}

fn add(sum: &mut Weights, row: &[f32; FEATURES], times: f64) {
    for (sum, value) in sum.iter_mut().zip(row) {
        *sum += times * f64::from(*value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Bounds = Bounds { is_fitted: [true; FEATURES], is_negative: [false; FEATURES] };

    fn row(values: &[f32]) -> [f32; FEATURES] {
        let mut row = [0.0; FEATURES];
        row[..values.len()].copy_from_slice(values);
        row
    }

    /// Gold passages have more of feature 0 and less of feature 1; feature 2 is noise.
    fn groups() -> Vec<Group> {
        let group = |i: u8| Group {
            rows: vec![
                row(&[1.0, 0.1 * f32::from(i % 3), 1.0]),
                row(&[0.2, 1.0, 1.0]),
                row(&[0.1 * f32::from(i % 5), 0.5, 1.0]),
            ],
            gold: 1,
            weight: 1.0,
        };
        (0..20).map(group).collect()
    }

    fn loss(group: &Group, weights: &Weights) -> f64 {
        let scores: Vec<f64> = group.rows.iter().map(|row| dot(row, weights)).collect();
        let others: f64 = scores[group.gold..].iter().map(|score| score.exp()).sum();
        let gold = scores[..group.gold].iter().map(|score| ((others + score.exp()) / score.exp()).ln());
        gold.sum::<f64>() / group.gold as f64
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_loss() {
        let group = Group { rows: groups().swap_remove(4).rows, gold: 2, weight: 1.0 };
        let mut weights = [0.0; FEATURES];
        (weights[0], weights[1], weights[2]) = (0.7, -0.4, 0.2);
        let gradient = group.gradient(&weights);
        for i in 0..3 {
            let (mut above, mut below) = (weights, weights);
            above[i] += 1e-6;
            below[i] -= 1e-6;
            let slope = (loss(&group, &above) - loss(&group, &below)) / 2e-6;
            assert!((slope - gradient[i]).abs() < 1e-6, "feature {i}: {slope} is not {}", gradient[i]);
        }
    }

    #[test]
    fn weights_keep_to_their_sign_and_what_is_not_fitted_weighs_nothing() {
        let mut bounds = FREE;
        bounds.is_fitted[0] = false;
        let weights = fit(&groups(), &bounds, &[1.0; FEATURES], 3e-3);
        assert!(weights[0].abs() < f64::EPSILON && weights[1].abs() < f64::EPSILON, "{weights:?}");
        bounds.is_negative[1] = true;
        assert!(fit(&groups(), &bounds, &[1.0; FEATURES], 3e-3)[1] < -1.0);
        assert!(fit(&groups(), &FREE, &[1.0; FEATURES], 3e-3)[0] > 1.0);
    }

    #[test]
    fn a_fit_is_the_same_bit_by_bit_on_any_number_of_threads() {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| fit(&groups(), &FREE, &[1.0; FEATURES], 3e-3)).map(f64::to_bits)
        };
        assert_eq!(on(1), on(3));
    }
}
