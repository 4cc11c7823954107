//! Hard clusters: k-means cuts all rows into cells, a mixture divides each cell, and clusters that are too large are
//! divided again.

use ndarray::Array2;
use rayon::prelude::*;

use super::MixtureOptions;
use super::diagonal::diagonal;
use super::gaussian::{full, single};
use super::k_means::{KMeansOptions, k_means};
use super::principal::principal;
use super::rows::Rows;
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::random::part_seed;

/// Dimensions of a cell in which a mixture is fitted, and dimensions used to find them.
const DIMENSIONS: usize = 8;
const WIDTH: usize = 16;
/// Gaussians of a cell at most, and rows that there must be for each.
const PARTS_MAX: usize = 16;
const ROWS_PER_PART: usize = 9;
/// Consecutive numbers of Gaussians without improvement after which no more are tried.
const WORSE_MAX: usize = 3;
/// Starts of k-means for each number of Gaussians.
const STARTS: u64 = 4;
/// Rows of a cell: minimum on average, and maximum if rows differ.
const ROWS_PER_CELL_MIN: usize = 128;
const ROWS_PER_CELL_MAX: usize = 2_048;
/// Rows for each mean that k-means is fitted on, and its rounds.
const ROWS_PER_MEAN: usize = 64;
const MEAN_ROUNDS: usize = 10;
/// How often a cluster that is too large is divided by content before it is cut in the order of its rows.
const DEPTH_MAX: usize = 12;

/// Returns the cluster of each row, and how many there are. None is empty, and none larger than
/// [`MixtureOptions::members_max`].
pub(super) fn hard_clusters(
    rows: &Rows,
    options: &MixtureOptions,
    cancellation: &Cancellation,
) -> Result<(Vec<u32>, usize)> {
    let count = rows.count().isqrt().min(rows.count() / ROWS_PER_CELL_MIN);
    let parting = Parting { rows, members_max: options.members_max.max(1), cancellation };
    let cells = parting.cut((0..rows.count() as u32).collect(), count, options.seed)?;
    let clusters = cells.into_par_iter().enumerate();
    let clusters = clusters.map(|(number, cell)| parting.clusters(cell, part_seed(options.seed, number as u64)));
    let clusters: Vec<Vec<Vec<u32>>> = clusters.collect::<Result<_>>()?;
    let (mut cluster_of, mut count) = (vec![0; rows.count()], 0);
    for cluster in clusters.iter().flatten() {
        for row in cluster {
            cluster_of[*row as usize] = count;
        }
        count += 1;
    }
    Ok((cluster_of, count as usize))
}

/// Rows that are parted into groups, each the numbers of its rows.
struct Parting<'a> {
    rows: &'a Rows<'a>,
    /// Rows of a group at most, in the end.
    members_max: usize,
    cancellation: &'a Cancellation,
}

impl Parting<'_> {
    /// Returns the clusters of a cell.
    fn clusters(&self, cell: Vec<u32>, seed: u64) -> Result<Vec<Vec<u32>>> {
        let mut clusters = Vec::new();
        for cell in self.small_cells(cell, (seed, 0))? {
            for part in self.parts(cell, seed)? {
                clusters.extend(self.bounded(part, (seed, 0))?);
            }
        }
        Ok(clusters)
    }

    /// Divides a cell into cells small enough to fit a mixture; it stays whole if its rows do not differ.
    fn small_cells(&self, cell: Vec<u32>, (seed, depth): (u64, u64)) -> Result<Vec<Vec<u32>>> {
        if cell.len() <= ROWS_PER_CELL_MAX {
            return Ok(vec![cell]);
        }
        let count = 2 * cell.len().div_ceil(ROWS_PER_CELL_MAX);
        let cells = self.cut(cell, count, part_seed(seed, depth))?;
        if cells.len() < 2 {
            return Ok(cells);
        }
        let smaller = cells.into_iter().map(|cell| self.small_cells(cell, (seed, depth + 1)));
        Ok(smaller.collect::<Result<Vec<_>>>()?.concat())
    }

    /// Returns a group in at most `count` groups by k-means; in one where all rows that it starts from are the same.
    fn cut(&self, group: Vec<u32>, count: usize, seed: u64) -> Result<Vec<Vec<u32>>> {
        if count < 2 {
            return Ok(Vec::from_iter((!group.is_empty()).then_some(group)));
        }
        let options = KMeansOptions { rows_per_mean: ROWS_PER_MEAN, rounds_max: MEAN_ROUNDS, seed };
        Ok(named(&group, &k_means(&self.rows.select(&group), count, options, self.cancellation)?))
    }

    /// Returns the parts of a cell by the mixture that describes it best.
    fn parts(&self, cell: Vec<u32>, seed: u64) -> Result<Vec<Vec<u32>>> {
        if cell.len() < 2 * ROWS_PER_PART || cell.len() > ROWS_PER_CELL_MAX {
            return Ok(vec![cell]);
        }
        let local = principal::<WIDTH>(&self.rows.select(&cell), DIMENSIONS, seed, self.cancellation)?;
        Ok(named(&cell, &best_parts(&scaled(&local), seed, self.cancellation)?))
    }

    /// Returns a cluster in pieces of at most [`Self::members_max`] rows: by its own mixture, else by k-means, else in
    /// the order of its rows.
    fn bounded(&self, cluster: Vec<u32>, (seed, depth): (u64, usize)) -> Result<Vec<Vec<u32>>> {
        if cluster.len() <= self.members_max {
            return Ok(vec![cluster]);
        }
        let pieces = cluster.len().div_ceil(self.members_max);
        let seed = part_seed(seed, depth as u64);
        let mut parted = if depth < DEPTH_MAX { self.parts(cluster.clone(), seed)? } else { Vec::new() };
        if parted.len() == 1 {
            parted = self.cut(cluster.clone(), pieces, seed)?;
        }
        if parted.len() < 2 {
            return Ok(cluster.chunks(cluster.len().div_ceil(pieces)).map(<[u32]>::to_vec).collect());
        }
        let smaller = parted.into_iter().map(|part| self.bounded(part, (seed, depth + 1)));
        Ok(smaller.collect::<Result<Vec<_>>>()?.concat())
    }
}

/// Returns the rows of each number, in order; numbers without a row are left out.
fn named(rows: &[u32], numbers: &[u32]) -> Vec<Vec<u32>> {
    let count = numbers.iter().max().map_or(0, |most| *most as usize + 1);
    let mut groups = vec![Vec::new(); count];
    for (row, number) in rows.iter().zip(numbers) {
        groups[*number as usize].push(*row);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// Returns principal components divided by the standard deviation of the first.
fn scaled(local: &Rows) -> Rows<'static> {
    let squares = (0..local.count()).filter_map(|row| local.row(row).first()).map(|value| value * value);
    let deviation = (squares.sum::<f32>() / local.count().max(1) as f32).sqrt();
    let scale = if deviation > 0.0 { deviation } else { 1.0 };
    let values = (0..local.count()).flat_map(|row| local.row(row)).map(|value| value / scale).collect();
    Rows::of(values, local.columns(), local.count())
}

/// Returns the parts of the mixture with the lowest criterion.
fn best_parts(local: &Rows, seed: u64, cancellation: &Cancellation) -> Result<Vec<u32>> {
    let points =
        Array2::from_shape_fn((local.count(), local.columns()), |(row, column)| f64::from(local.row(row)[column]));
    let mut best = single(&points);
    if local.columns() == 0 {
        return Ok(best.parts);
    }
    let mut worse = 0;
    for count in 2..=(local.count() / ROWS_PER_PART).min(PARTS_MAX) {
        cancellation.check()?;
        let start = start(local, count, part_seed(seed, count as u64), cancellation)?;
        let fit = full(&points, &start, count).unwrap_or_else(|| diagonal(local, &start, count));
        if fit.criterion < best.criterion {
            (best, worse) = (fit, 0);
        } else {
            worse += 1;
        }
        if worse == WORSE_MAX {
            break;
        }
    }
    Ok(best.parts)
}

/// Returns the best of a few k-means, each from means of its own: the one whose parts are the closest.
fn start(local: &Rows, count: usize, seed: u64, cancellation: &Cancellation) -> Result<Vec<u32>> {
    let mut best = (f64::NEG_INFINITY, Vec::new());
    for number in 0..STARTS {
        let seed = part_seed(seed, number);
        let options = KMeansOptions { rows_per_mean: usize::MAX, rounds_max: MEAN_ROUNDS, seed };
        let parts = k_means(local, count, options, cancellation)?;
        let closeness = closeness(local, &parts, count);
        if closeness > best.0 || best.1.is_empty() {
            best = (closeness, parts);
        }
    }
    Ok(best.1)
}

/// Returns `Σ |Σ row|² / rows` over parts: the sum of all squares less that of distances from the means of parts.
fn closeness(local: &Rows, parts: &[u32], count: usize) -> f64 {
    let (mut sums, mut counts) = (vec![0.0; count * local.columns()], vec![0_u32; count]);
    for (row, part) in parts.iter().enumerate() {
        counts[*part as usize] += 1;
        let sums = sums[*part as usize * local.columns()..].iter_mut();
        sums.zip(local.row(row)).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    let of_part = |(sums, count): (&[f64], &u32)| sums.iter().map(|sum| sum * sum).sum::<f64>() / f64::from(*count);
    sums.chunks(local.columns()).zip(&counts).filter(|it| *it.1 > 0).map(of_part).sum()
}
