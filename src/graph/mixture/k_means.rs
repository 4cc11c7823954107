//! k-means (Lloyd 1982) on a sample, from the start of k-means++ (Arthur and Vassilvitskii 2007).

use rayon::prelude::*;

use super::rows::{Rows, strided};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::random::SplitMix64;
use crate::graph::scan::weighted_sum;

/// Centers that a row is compared with at a time.
const LANES: usize = 32;
/// Rows of a thread at a time.
const ROWS_PER_BLOCK: usize = 512;
/// Rows for each center that the start is drawn from, at most.
const STARTS_PER_CENTER: usize = 16;

/// How means are found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KMeansOptions {
    /// Rows for each mean that they are fitted on, at most; all rows are assigned in the end.
    pub(crate) rows_per_mean: usize,
    /// Rounds of assigning and taking means; fewer where nothing changes.
    pub(crate) rounds_max: usize,
    pub(crate) seed: u64,
}

/// Returns the number of the nearest of at most `count` means for each row; some numbers may have no row. Takes
/// `O((rows + rounds · sample) · count · columns)`.
pub(super) fn k_means(
    rows: &Rows,
    count: usize,
    options: KMeansOptions,
    cancellation: &Cancellation,
) -> Result<Vec<u32>> {
    let sample = rows.select(&strided(rows.count(), options.rows_per_mean.saturating_mul(count)));
    let mut means = starts(&sample, count, options.seed, cancellation)?;
    let mut nearest = Vec::new();
    for _ in 0..options.rounds_max {
        let found = Centers::of(&means, rows.columns()).assign(&sample, cancellation)?;
        if found == nearest {
            break;
        }
        nearest = found;
        update(&mut means, &sample, &nearest);
    }
    Centers::of(&means, rows.columns()).assign(rows, cancellation)
}

/// Returns rows to start from, drawn by the squares of their distances from earlier ones. Fewer if not enough rows
/// differ.
fn starts(rows: &Rows, count: usize, seed: u64, cancellation: &Cancellation) -> Result<Vec<Vec<f32>>> {
    let rows = rows.select(&strided(rows.count(), STARTS_PER_CENTER.saturating_mul(count)));
    let mut random = SplitMix64::new(seed);
    let mut squares = vec![f32::INFINITY; rows.count()];
    let mut next = random.below(rows.count() as u32) as usize;
    let mut starts: Vec<Vec<f32>> = Vec::new();
    while starts.len() < count && next < rows.count() {
        cancellation.check()?;
        let start = rows.row(next).to_vec();
        let mut sum = 0.0;
        for (row, square) in squares.iter_mut().enumerate() {
            let difference = rows.row(row).iter().zip(&start).map(|(a, b)| (a - b) * (a - b));
            *square = square.min(difference.sum());
            sum += f64::from(*square);
        }
        starts.push(start);
        let mut left = random.unit() * sum;
        let drawn = squares.iter().position(|square| {
            left -= f64::from(*square);
            *square > 0.0 && left <= 0.0
        });
        // Rounding may lead past the last row; if all squares are 0, there is none.
        next = drawn.or_else(|| squares.iter().rposition(|square| *square > 0.0)).unwrap_or(rows.count());
    }
    Ok(starts)
}

/// Moves each mean to the mean of its rows; one without a row stays.
fn update(means: &mut [Vec<f32>], rows: &Rows, nearest: &[u32]) {
    let mut sums = vec![vec![0.0; rows.columns()]; means.len()];
    let mut counts = vec![0_u32; means.len()];
    for (row, mean) in nearest.iter().enumerate() {
        counts[*mean as usize] += 1;
        for (sum, value) in sums[*mean as usize].iter_mut().zip(rows.row(row)) {
            *sum += f64::from(*value);
        }
    }
    for ((mean, sums), count) in means.iter_mut().zip(sums).zip(counts).filter(|(_, count)| *count > 0) {
        for (value, sum) in mean.iter_mut().zip(sums) {
            *value = (sum / f64::from(count)) as f32;
        }
    }
}

/// Means, interleaved [`LANES`] at a time.
struct Centers {
    /// For each lot, the means by column, and half of the square of the length of each mean.
    lots: Vec<(Vec<[f32; LANES]>, [f32; LANES])>,
}

impl Centers {
    fn of(means: &[Vec<f32>], columns: usize) -> Self {
        let lot = |means: &[Vec<f32>]| {
            let mut by_column = vec![[0.0; LANES]; columns];
            // Nothing is near a missing center.
            let mut halves = [f32::INFINITY; LANES];
            for (lane, (mean, half)) in means.iter().zip(&mut halves).enumerate() {
                by_column.iter_mut().zip(mean).for_each(|(column, value)| column[lane] = *value);
                *half = mean.iter().map(|value| value * value).sum::<f32>() / 2.0;
            }
            (by_column, halves)
        };
        Self { lots: means.chunks(LANES).map(lot).collect() }
    }

    fn assign(&self, rows: &Rows, cancellation: &Cancellation) -> Result<Vec<u32>> {
        let mut found = vec![0; rows.count()];
        let blocks = found.par_chunks_mut(ROWS_PER_BLOCK).enumerate();
        let of_block = |(block, found): (usize, &mut [u32])| {
            for (row, nearest) in (block * ROWS_PER_BLOCK..).zip(found) {
                *nearest = self.nearest(rows.row(row));
            }
            cancellation.check()
        };
        blocks.try_for_each(of_block)?;
        Ok(found)
    }

    /// Returns the number of the nearest center: the first of those with the most `row · center − |center|² / 2`.
    fn nearest(&self, row: &[f32]) -> u32 {
        // Of each lane, so that no step depends on the one before.
        let (mut most, mut lots) = ([f32::NEG_INFINITY; LANES], [0; LANES]);
        for (lot, (by_column, halves)) in (0..).zip(&self.lots) {
            let products = weighted_sum(row, by_column);
            for lane in 0..LANES {
                let nearness = products[lane] - halves[lane];
                let is_more = nearness > most[lane];
                most[lane] = if is_more { nearness } else { most[lane] };
                lots[lane] = if is_more { lot } else { lots[lane] };
            }
        }
        let mut best = (f32::NEG_INFINITY, 0);
        for (lane, (most, lot)) in (0..).zip(most.into_iter().zip(lots)) {
            let number = lot * LANES as u32 + lane;
            if most > best.0 || (most >= best.0 && number < best.1) {
                best = (most, number);
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the first of the centers with the most `row · center − |center|² / 2`.
    fn plain(means: &[Vec<f32>], row: &[f32]) -> u32 {
        let mut best = (f32::NEG_INFINITY, 0);
        for (number, mean) in (0..).zip(means) {
            let half = mean.iter().map(|value| value * value).sum::<f32>() / 2.0;
            let nearness = row.iter().zip(mean).fold(0.0, |sum, (a, b)| sum + a * b) - half;
            if nearness > best.0 {
                best = (nearness, number);
            }
        }
        best.1
    }

    proptest! {
        /// Of few values, so that many are equally near.
        #[test]
        fn the_nearest_center_is_the_first_of_the_nearest(
            means in prop::collection::vec(prop::collection::vec(-2_i8..3, 3), 0..150),
            row in prop::collection::vec(prop::sample::select(vec![-1.0, -0.0, 0.0, 0.5, 1.0, f32::NAN]), 3),
        ) {
            let means: Vec<Vec<f32>> = means.iter().map(|it| it.iter().copied().map(f32::from).collect()).collect();
            prop_assert_eq!(Centers::of(&means, 3).nearest(&row), plain(&means, &row));
        }
    }
}
