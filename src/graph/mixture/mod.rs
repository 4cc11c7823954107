//! Soft clusters of vectors by mixtures of Gaussians, as RAPTOR (Sarthi et al. 2024, arXiv:2401.18059, section 3) and
//! after it `HiRAG` (2025, arXiv:2503.10150) cluster a layer, in two levels that scale: k-means cuts all vectors into
//! cells, and a mixture divides each cell. Principal components replace RAPTOR's UMAP. The same vectors and seed give
//! the same clusters, for any number of threads.
//!
//! A vector may be in several clusters. No cluster is empty, none exceeds the requested size, and every vector is in
//! one.

mod diagonal;
mod eigen;
mod gaussian;
mod k_means;
mod memberships;
mod parting;
#[cfg(test)]
mod planted;
mod principal;
mod rows;
#[cfg(test)]
mod tests;

use crate::domain::Cancellation;
use crate::error::Result;
use memberships::{Membership, memberships};
use parting::hard_clusters;
use principal::principal;
use rows::Rows;

/// Principal components that vectors are clustered in, and what the search for them works with.
const DIMENSIONS: usize = 32;
const WIDTH: usize = 40;

/// How clusters are looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixtureOptions {
    /// Members of a cluster at most; at least 1.
    pub members_max: usize,
    /// A vector is in every cluster that it is of with a probability above this.
    pub threshold: f32,
    /// Clusters that a vector is in at most: the most probable of those above the threshold. At least 1.
    pub memberships_max: usize,
    /// How much clusters overlap: every variance counts as this many times what it is. Measured on real vectors (358
    /// entities by a large model; 7,000 to 12,000 passages and names as sums of word vectors), a vector is in 1.2
    /// clusters on average with 1, in 1.4 with 2, in 1.6 to 1.9 with 4. Planted clusters that are apart stay so.
    pub temperature: f64,
    /// What all random choices follow from.
    pub seed: u64,
}

impl Default for MixtureOptions {
    fn default() -> Self {
        Self { members_max: 256, threshold: 0.1, memberships_max: 4, temperature: 2.0, seed: 1 }
    }
}

/// Which vectors are in which clusters, and how much.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SoftClusters {
    /// How many clusters there are, numbered in the order of their first members.
    pub count: usize,
    /// Where the memberships of each vector begin in the other two arrays, and the end.
    pub rows: Vec<u32>,
    /// The clusters of each vector, the most probable first.
    pub cluster: Vec<u32>,
    /// How probable each is; those of a vector sum to 1.
    pub weight: Vec<f32>,
}

/// Returns the clusters of vectors of `dimensions` values each, which stand one behind the other. Only their directions
/// count. A vector with a value that is not finite counts as one of zeros.
///
/// Takes, for `n` vectors, `O(n · dimensions + n^1.5)`.
///
/// # Errors
///
/// [`Error::Cancelled`](crate::error::Error::Cancelled) if a stop was asked for: every block of vectors looks for it,
/// and every mixture of a cell before it is fitted.
pub fn soft_clusters(
    vectors: &[f32],
    dimensions: usize,
    options: &MixtureOptions,
    cancellation: &Cancellation,
) -> Result<SoftClusters> {
    let rows = Rows::unit(vectors, dimensions);
    let reduced = principal::<WIDTH>(&rows, DIMENSIONS, options.seed, cancellation)?;
    let (hard, count) = hard_clusters(&reduced, options, cancellation)?;
    Ok(SoftClusters::of(&memberships(&reduced, &hard, count, options, cancellation)?, count))
}

impl SoftClusters {
    /// Numbers the clusters again; those that nothing is in have no number.
    fn of(memberships: &[Vec<Membership>], count: usize) -> Self {
        let mut numbers = vec![u32::MAX; count];
        let mut clusters = Self { rows: vec![0], ..Self::default() };
        for memberships in memberships {
            for Membership { cluster, weight } in memberships {
                let number = &mut numbers[*cluster as usize];
                if *number == u32::MAX {
                    *number = clusters.count as u32;
                    clusters.count += 1;
                }
                clusters.cluster.push(*number);
                clusters.weight.push(*weight);
            }
            clusters.rows.push(clusters.cluster.len() as u32);
        }
        clusters
    }
}
