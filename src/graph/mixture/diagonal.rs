//! Mixtures of Gaussians whose covariances are zero. They overlap where full ones are effectively hard, and can always
//! be fitted.

use super::gaussian::{Fit, most};
use super::rows::Rows;

/// The logarithm of 2π.
pub(super) const LN_TAU: f64 = 1.837_877_066_409_345_5;
/// Rows that the variances of the whole mixture count for in those of each Gaussian: one with few rows has theirs.
const PRIOR_ROWS: f64 = 8.0;
/// The least variance of a column, as a share of the mean variance of all.
const VARIANCE_MIN: f64 = 1e-4;
const ROUNDS_MAX: usize = 50;
/// The change of the mean logarithm of the likelihood below which a fit has converged.
const TOLERANCE: f64 = 1e-3;

/// How much of a row is in a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pub(super) row: u32,
    pub(super) part: u32,
    pub(super) weight: f64,
}

/// One Gaussian of a mixture.
pub(super) struct Component {
    pub(super) mean: Vec<f64>,
    /// One divided by the variance, for each column.
    pub(super) precisions: Vec<f64>,
    /// The logarithm of its share of all rows.
    share: f64,
    /// The logarithm of its density at the mean.
    height: f64,
}

impl Component {
    /// Returns the logarithm of the density at a row times the share of all rows. A temperature above 1 flattens the
    /// density, as if every variance were multiplied by it.
    pub(super) fn log_density(&self, row: &[f32], temperature: f64) -> f64 {
        let terms = row.iter().zip(&self.mean).zip(&self.precisions);
        let square = terms.map(|((value, mean), precision)| {
            let difference = f64::from(*value) - mean;
            difference * difference * precision
        });
        self.share + (self.height - 0.5 * square.sum::<f64>()) / temperature
    }
}

/// Turns logarithms of densities into probabilities, and returns the logarithm of their sum. The greatest is factored
/// out, so that no sum is 0.
pub(super) fn to_probabilities(logarithms: &mut [f64]) -> f64 {
    let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !most.is_finite() {
        logarithms.fill(1.0 / logarithms.len().max(1) as f64);
        return f64::NEG_INFINITY;
    }
    let sum = logarithms.iter().map(|logarithm| (logarithm - most).exp()).sum::<f64>();
    let total = most + sum.ln();
    for logarithm in logarithms {
        *logarithm = (*logarithm - total).exp();
    }
    total
}

/// Returns the `count` Gaussians that shares give: the M step.
pub(super) fn components(rows: &Rows, shares: &[Share], count: usize) -> Vec<Component> {
    let columns = rows.columns();
    let (mut sums, mut means) = (vec![0.0; count], vec![vec![0.0; columns]; count]);
    for share in shares {
        sums[share.part as usize] += share.weight;
        for (mean, value) in means[share.part as usize].iter_mut().zip(rows.row(share.row as usize)) {
            *mean += share.weight * f64::from(*value);
        }
    }
    for (mean, sum) in means.iter_mut().zip(&sums).filter(|(_, sum)| **sum > 0.0) {
        for value in mean {
            *value /= sum;
        }
    }
    let (pooled, squares) = squares(rows, shares, &means);
    let total = sums.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let parts = sums.into_iter().zip(means).zip(squares);
    parts.map(|((sum, mean), squares)| component(mean, &squares, (sum, total), &pooled)).collect()
}

/// Returns the mean squares of differences from the means of all parts together, none of them 0, and their sums by
/// part.
fn squares(rows: &Rows, shares: &[Share], means: &[Vec<f64>]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let columns = rows.columns();
    let mut squares = vec![vec![0.0; columns]; means.len()];
    for share in shares {
        let (mean, sums) = (&means[share.part as usize], &mut squares[share.part as usize]);
        for ((sum, value), mean) in sums.iter_mut().zip(rows.row(share.row as usize)).zip(mean) {
            let difference = f64::from(*value) - mean;
            *sum += share.weight * difference * difference;
        }
    }
    let weight = shares.iter().map(|share| share.weight).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut pooled = vec![0.0; columns];
    for sums in &squares {
        pooled.iter_mut().zip(sums).for_each(|(pooled, sum)| *pooled += sum / weight);
    }
    let least = (VARIANCE_MIN * pooled.iter().sum::<f64>() / columns.max(1) as f64).max(1e-12);
    for pooled in &mut pooled {
        *pooled = pooled.max(least);
    }
    (pooled, squares)
}

fn component(mean: Vec<f64>, squares: &[f64], (sum, total): (f64, f64), pooled: &[f64]) -> Component {
    let variance = |(square, pooled): (&f64, &f64)| (square + PRIOR_ROWS * pooled) / (sum + PRIOR_ROWS);
    let precisions: Vec<f64> = squares.iter().zip(pooled).map(|it| 1.0 / variance(it)).collect();
    let height = precisions.iter().map(|precision| precision.ln() - LN_TAU).sum::<f64>() / 2.0;
    Component { mean, precisions, share: (sum / total).max(f64::MIN_POSITIVE).ln(), height }
}

/// Returns a mixture of `count` Gaussians, fitted from parts to begin with.
pub(super) fn diagonal(rows: &Rows, parts: &[u32], count: usize) -> Fit {
    let mut shares: Vec<Share> = (0..).zip(parts).map(|(row, part)| Share { row, part: *part, weight: 1.0 }).collect();
    let (mut likelihood, mut found) = (f64::NEG_INFINITY, parts.to_vec());
    for _ in 0..ROUNDS_MAX {
        let components = components(rows, &shares, count);
        let before = likelihood;
        (likelihood, shares) = expected(rows, &components, &mut found);
        if (likelihood - before).abs() < TOLERANCE * rows.count() as f64 {
            break;
        }
    }
    Fit::new(found, likelihood, count * 2 * rows.columns() + count - 1)
}

/// Returns the logarithm of the likelihood and the shares of all rows, and sets the most probable part of each: the E
/// step.
fn expected(rows: &Rows, components: &[Component], found: &mut [u32]) -> (f64, Vec<Share>) {
    let mut logarithms = vec![0.0; components.len()];
    let (mut likelihood, mut shares) = (0.0, Vec::with_capacity(found.len() * components.len()));
    for (row, found) in (0..).zip(found) {
        for (logarithm, component) in logarithms.iter_mut().zip(components) {
            *logarithm = component.log_density(rows.row(row as usize), 1.0);
        }
        likelihood += to_probabilities(&mut logarithms);
        *found = most(&logarithms);
        shares.extend((0..).zip(&logarithms).map(|(part, weight)| Share { row, part, weight: *weight }));
    }
    (likelihood, shares)
}
