//! Principal components by subspace iteration (Halko, Martinsson, Tropp 2011, doi:10.1137/090771806, algorithm 4.4):
//! the covariance matrix, which would take the square of the dimensions, is never built.

use rayon::prelude::*;

use super::eigen::{eigen, orthonormalize};
use super::rows::{Rows, strided};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::random::SplitMix64;
use crate::graph::scan::weighted_sum;

/// Rows that the directions are found from, at most; evenly spread over all.
const SAMPLE_MAX: usize = 8_192;
/// Number of products with the covariances, each of which improves the directions.
const ROUNDS: usize = 4;
/// Rows that one thread sums before sums are added in order. It may not depend on the number of threads.
const ROWS_PER_BLOCK: usize = 512;
/// The least variance of a component, as a share of the mean square of all rows, and of the first component.
const VARIANCE_MIN: f64 = 1e-10;

/// Returns the rows in the coordinates of their first principal components, at most `components_max` of them and fewer
/// than `WIDTH`, with means of 0, the component with the most variance first. Without variance, there are no columns.
/// Takes `O(ROUNDS · sample · columns · WIDTH + rows · columns · WIDTH)`.
pub(super) fn principal<const WIDTH: usize>(
    rows: &Rows,
    components_max: usize,
    seed: u64,
    cancellation: &Cancellation,
) -> Result<Rows<'static>> {
    let sample = strided(rows.count(), SAMPLE_MAX);
    let (mean, square) = mean(rows, &sample, cancellation)?;
    let mut random = SplitMix64::new(seed);
    let mut basis: Vec<[f32; WIDTH]> =
        (0..rows.columns()).map(|_| std::array::from_fn(|_| random.unit() as f32 - 0.5)).collect();
    for _ in 0..ROUNDS {
        orthonormalize(&mut basis);
        basis = covariances_times(rows, &sample, &mean, &basis, cancellation)?;
    }
    orthonormalize(&mut basis);
    let directions = directions(rows, &sample, &mean, &basis, cancellation)?;
    let least = VARIANCE_MIN * square.max(directions.first().map_or(0.0, |(variance, _)| *variance));
    let kept = directions.iter().take(components_max).take_while(|(variance, _)| *variance > least).count();
    let mut turned = vec![[0.0; WIDTH]; rows.columns()];
    for (to, from) in turned.iter_mut().zip(&basis) {
        for (value, (_, direction)) in to.iter_mut().zip(directions.iter().take(kept)) {
            *value = from.iter().zip(direction).map(|(from, turn)| f64::from(*from) * turn).sum::<f64>() as f32;
        }
    }
    let all: Vec<u32> = (0..rows.count() as u32).collect();
    let turn = |block: &mut Vec<f32>, row: &[f32]| block.extend_from_slice(&weighted_sum(row, &turned)[..kept]);
    let values = in_blocks(rows, &all, &mean, cancellation, turn)?;
    Ok(Rows::of(values.concat(), kept, rows.count()))
}

/// Adds `row[i] · factors` to `sums[i]`: a transposed row times a row of `WIDTH` columns.
fn add_outer<const WIDTH: usize>(sums: &mut [[f32; WIDTH]], row: &[f32], factors: &[f32; WIDTH]) {
    for (sum, value) in sums.iter_mut().zip(row) {
        for (sum, factor) in sum.iter_mut().zip(factors) {
            *sum += value * factor;
        }
    }
}

/// Returns the mean of some rows and the mean of their squared lengths.
fn mean(rows: &Rows, sample: &[u32], cancellation: &Cancellation) -> Result<(Vec<f32>, f64)> {
    let zeros = vec![0.0; rows.columns()];
    let add = |(sums, square): &mut (Vec<f64>, f64), row: &[f32]| {
        sums.resize(row.len(), 0.0);
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += f64::from(*value);
            *square += f64::from(*value) * f64::from(*value);
        }
    };
    let blocks = in_blocks(rows, sample, &zeros, cancellation, add)?;
    let mut mean = vec![0.0; rows.columns()];
    let mut square = 0.0;
    for (sums, block_square) in blocks {
        mean.iter_mut().zip(sums).for_each(|(mean, sum)| *mean += sum);
        square += block_square;
    }
    let count = sample.len().max(1) as f64;
    Ok((mean.iter().map(|sum| (sum / count) as f32).collect(), square / count))
}

/// Returns the covariances of some rows times `basis`, but for a factor.
fn covariances_times<const WIDTH: usize>(
    rows: &Rows,
    sample: &[u32],
    mean: &[f32],
    basis: &[[f32; WIDTH]],
    cancellation: &Cancellation,
) -> Result<Vec<[f32; WIDTH]>> {
    let add = |sums: &mut Vec<[f32; WIDTH]>, row: &[f32]| {
        sums.resize(row.len(), [0.0; WIDTH]);
        add_outer(sums, row, &weighted_sum(row, basis));
    };
    let blocks = in_blocks(rows, sample, mean, cancellation, add)?;
    let mut total = vec![[0.0; WIDTH]; basis.len()];
    for block in blocks {
        for (total, sum) in total.iter_mut().flatten().zip(block.iter().flatten()) {
            *total += sum;
        }
    }
    Ok(total)
}

/// Returns the principal directions within the space of `basis`, in its coordinates, with the variances along them.
fn directions<const WIDTH: usize>(
    rows: &Rows,
    sample: &[u32],
    mean: &[f32],
    basis: &[[f32; WIDTH]],
    cancellation: &Cancellation,
) -> Result<Vec<(f64, Vec<f64>)>> {
    let add = |sums: &mut Vec<[f32; WIDTH]>, row: &[f32]| {
        sums.resize(WIDTH, [0.0; WIDTH]);
        let values = weighted_sum(row, basis);
        add_outer(sums, &values, &values);
    };
    let blocks = in_blocks(rows, sample, mean, cancellation, add)?;
    let mut covariances = vec![0.0; WIDTH * WIDTH];
    for block in blocks {
        for (total, sum) in covariances.iter_mut().zip(block.iter().flatten()) {
            *total += f64::from(*sum) / sample.len() as f64;
        }
    }
    Ok(eigen(covariances, WIDTH))
}

/// Adds up blocks of rows less their mean, each from `default()`, and returns the sums of the blocks in order.
fn in_blocks<T: Default + Send>(
    rows: &Rows,
    sample: &[u32],
    mean: &[f32],
    cancellation: &Cancellation,
    add: impl Fn(&mut T, &[f32]) + Sync,
) -> Result<Vec<T>> {
    let of_block = |block: &[u32]| {
        cancellation.check()?;
        let (mut sum, mut buffer) = (T::default(), vec![0.0; rows.columns()]);
        for row in block {
            rows.read_centered(*row as usize, mean, &mut buffer);
            add(&mut sum, &buffer);
        }
        Ok(sum)
    };
    sample.par_chunks(ROWS_PER_BLOCK).map(of_block).collect()
}
