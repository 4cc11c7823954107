//! Confidence intervals of a mean over questions: percentile bootstrap with our own generator, so that the same values
//! and seed give the same interval everywhere.

use serde::{Deserialize, Serialize};

/// How often the questions are drawn again.
pub const RESAMPLES: usize = 1_000;

/// Positions of the lower and the upper end among the sorted means, in thousandths: 95 % lie between them.
const ENDS: (usize, usize) = (25, 975);

/// A mean with its 95 % bootstrap interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The mean of the values.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Returns the interval with every number multiplied by `factor`, which is not negative.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { mean: self.mean * factor, low: self.low * factor, high: self.high * factor }
    }
}

/// Returns the mean of `values`, one a question, with its interval from [`RESAMPLES`] draws; zeros where there is none.
///
/// The draws depend on `seed` and the number of values only: two lists over the same questions are drawn alike.
///
/// # Complexity
///
/// O([`RESAMPLES`] · n) time.
#[must_use]
pub fn interval(values: &[f64], seed: u64) -> Interval {
    if values.is_empty() {
        return Interval::default();
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let mut draws = Draws { state: seed };
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| (0..values.len()).filter_map(|_| values.get(draws.below(values.len()))).sum::<f64>() / count)
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    // Summed in another order, equal values can differ from the mean in the last digit.
    Interval { mean, low: percentile(&means, ENDS.0).min(mean), high: percentile(&means, ENDS.1).max(mean) }
}

/// Returns the value of `sorted`, ascending, that `thousandths` of the values do not exceed (nearest rank); 0 where
/// there is none.
#[must_use]
pub fn percentile(sorted: &[f64], thousandths: usize) -> f64 {
    let rank = (sorted.len() * thousandths).div_ceil(1_000).max(1);
    sorted.get(rank - 1).or(sorted.last()).copied().unwrap_or_default()
}

/// Returns the share of `successes` among `trials` with its 95 % Wilson score interval (Wilson 1927), which holds for
/// few trials and for shares near 0 and 1; none where nothing was tried.
#[must_use]
pub fn wilson(successes: u64, trials: u64) -> Option<Interval> {
    /// The 97.5th percentile of the normal distribution.
    const Z: f64 = 1.959_963_984_540_054;
    if trials == 0 {
        return None;
    }
    let (count, mean) = (trials as f64, successes as f64 / trials as f64);
    let squared = Z * Z / count;
    let centre = (mean + squared / 2.0) / (1.0 + squared);
    let half = Z * (mean * (1.0 - mean) / count + squared / (4.0 * count)).sqrt() / (1.0 + squared);
    Some(Interval { mean, low: (centre - half).max(0.0).min(mean), high: (centre + half).min(1.0).max(mean) })
}

/// `SplitMix64` (Steele, Lea, Flood 2014).
pub(super) struct Draws {
    pub(super) state: u64,
}

impl Draws {
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound` as the high half of a product; its bias, bound / 2⁶⁴, is negligible for counts.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.draw()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_generator_is_splitmix64() {
        // The first values of the reference implementation for the seed 1234567.
        let mut draws = Draws { state: 1_234_567 };
        let actual = [draws.draw(), draws.draw(), draws.draw()];
        assert_eq!(actual, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn a_percentile_is_the_value_of_the_nearest_rank() {
        let values: Vec<f64> = (1..=40).map(f64::from).collect();
        for (thousandths, expect) in
            [(0, 1.0), (25, 1.0), (26, 2.0), (500, 20.0), (950, 38.0), (990, 40.0), (1_000, 40.0)]
        {
            assert_eq!(percentile(&values, thousandths).to_bits(), f64::to_bits(expect), "{thousandths}");
        }
        assert_eq!(percentile(&[], 500).to_bits(), 0);
    }

    #[test]
    fn values_without_spread_have_an_interval_without_width() {
        let interval = interval(&[0.1; 7], 1);
        assert!((interval.mean - 0.1).abs() < 1e-12 && interval.high - interval.low < 1e-12, "{interval:?}");
        assert_eq!(super::interval(&[], 1), Interval::default());
    }

    #[test]
    fn the_interval_of_a_share_is_that_of_the_normal_approximation() {
        // 100 of 400: mean .25, standard error √(.25 · .75 / 400) = .02165, so ± .0424.
        let values: Vec<f64> = (0..400).map(|i| f64::from(u8::from(i % 4 == 0))).collect();
        let interval = interval(&values, 7);
        assert!((interval.mean - 0.25).abs() < 1e-12);
        assert!((interval.low - 0.2076).abs() < 0.006 && (interval.high - 0.2924).abs() < 0.006, "{interval:?}");
    }

    #[test]
    fn a_wilson_interval_is_that_of_the_published_formula() {
        // R: prop.test(x, n, correct = FALSE)$conf.int
        for (successes, trials, low, high) in
            [(15, 20, 0.5313, 0.8881), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (24, 28, 0.6851, 0.9430)]
        {
            let interval = wilson(successes, trials).unwrap();
            assert!((interval.low - low).abs() < 1e-4 && (interval.high - high).abs() < 1e-4, "{interval:?}");
        }
        assert_eq!(wilson(0, 0), None);
    }

    proptest! {
        #[test]
        fn an_interval_contains_the_mean_and_repeats_with_its_seed(
            values in prop::collection::vec(-10.0..10.0_f64, 1..60),
            seed in any::<u64>(),
        ) {
            let interval = interval(&values, seed);
            prop_assert!(interval.low <= interval.mean && interval.mean <= interval.high);
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(least - 1e-9 <= interval.low && interval.high <= most + 1e-9);
            prop_assert_eq!(interval, super::interval(&values, seed));
        }
    }
}
