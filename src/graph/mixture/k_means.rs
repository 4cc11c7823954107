//! k-means (Lloyd 1982) on a sample, from the start of k-means++ (Arthur and Vassilvitskii 2007).

use rayon::prelude::*;

use super::rows::{Rows, strided};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::random::SplitMix64;
use crate::graph::scan::{Centers, nearest};

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
        let found = assign(&means, &sample, cancellation)?;
        if found == nearest {
            break;
        }
        nearest = found;
        update(&mut means, &sample, &nearest);
    }
    assign(&means, rows, cancellation)
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

/// Returns means side by side, as many as are compared with at a time.
fn side_by_side(means: &[Vec<f32>], columns: usize) -> Vec<Centers<LANES>> {
    let centers = |means: &[Vec<f32>]| {
        // Nothing is near a missing center.
        let mut centers = Centers { coordinates: vec![[0.0; LANES]; columns], halves: [f32::INFINITY; LANES] };
        for (lane, (mean, half)) in means.iter().zip(&mut centers.halves).enumerate() {
            centers.coordinates.iter_mut().zip(mean).for_each(|(column, value)| column[lane] = *value);
            *half = mean.iter().map(|value| value * value).sum::<f32>() / 2.0;
        }
        centers
    };
    means.chunks(LANES).map(centers).collect()
}

/// Returns the number of the nearest mean for each row.
fn assign(means: &[Vec<f32>], rows: &Rows, cancellation: &Cancellation) -> Result<Vec<u32>> {
    let centers = side_by_side(means, rows.columns());
    let mut found = vec![0; rows.count()];
    let blocks = found.par_chunks_mut(ROWS_PER_BLOCK).enumerate();
    let of_block = |(block, found): (usize, &mut [u32])| {
        for (row, number) in (block * ROWS_PER_BLOCK..).zip(found) {
            *number = nearest(rows.row(row), &centers);
        }
        cancellation.check()
    };
    blocks.try_for_each(of_block)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Thirds are rounded whenever they are multiplied or added.
    const VALUES: &[f32] = &[-2.0, -1.0, -1.0 / 3.0, -0.0, 0.0, 1.0 / 3.0, 0.7, 1.0, f32::NAN];

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
            means in prop::collection::vec(prop::collection::vec(prop::sample::select(VALUES), 3), 0..150),
            row in prop::collection::vec(prop::sample::select(VALUES), 3),
        ) {
            let centers = side_by_side(&means, 3);
            prop_assert_eq!(nearest(&row, &centers), plain(&means, &row));
        }
    }
}
