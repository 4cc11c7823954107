//! Properties of all clusters, known clusters, and invalid input.

use super::planted::{PlantedOptions, Random, adjusted_rand, planted};
use super::*;

fn soft_clusters(vectors: &[f32], dimensions: usize, options: &MixtureOptions) -> SoftClusters {
    super::soft_clusters(vectors, dimensions, options, &Cancellation::default()).unwrap()
}

const PLANTED: PlantedOptions =
    PlantedOptions { count: 1_000, dimensions: 128, topics: 20, groups_per_topic: 2, noise: 1.0, seed: 7 };

/// Clusters vectors, and checks the properties of all clusters.
fn checked(vectors: &[f32], dimensions: usize, options: &MixtureOptions) -> SoftClusters {
    let found = soft_clusters(vectors, dimensions, options);
    let count = vectors.len().checked_div(dimensions).unwrap_or(0);
    assert_eq!((found.rows.len(), found.rows[0]), (count + 1, 0));
    assert_eq!(found.rows[count] as usize, found.cluster.len());
    assert_eq!(found.cluster.len(), found.weight.len());
    let (mut sizes, mut seen) = (vec![0; found.count], 0);
    for row in found.rows.windows(2) {
        let places = row[0] as usize..row[1] as usize;
        let (clusters, weights) = (&found.cluster[places.clone()], &found.weight[places]);
        assert!((1..=options.memberships_max.max(1)).contains(&clusters.len()), "every vector is in one");
        assert!(weights.iter().all(|weight| *weight > 0.0) && weights.is_sorted_by(|a, b| a >= b));
        assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        for (place, cluster) in clusters.iter().enumerate() {
            assert!(!clusters[..place].contains(cluster), "once");
            assert!(*cluster <= seen, "clusters are numbered in the order of their first members");
            seen = seen.max(cluster + 1);
            sizes[*cluster as usize] += 1;
        }
    }
    assert!(sizes.iter().all(|size| (1..=options.members_max.max(1)).contains(size)), "{sizes:?}");
    found
}

fn most_probable(found: &SoftClusters) -> Vec<u32> {
    found.rows[..found.rows.len() - 1].iter().map(|begin| found.cluster[*begin as usize]).collect()
}

fn memberships_mean(found: &SoftClusters) -> f64 {
    found.cluster.len() as f64 / (found.rows.len() - 1) as f64
}

/// Returns the adjusted Rand index of these clusters, and that of as many by k-means alone.
fn agreements(options: PlantedOptions) -> (f64, f64) {
    let planted = planted(options);
    let unbounded = MixtureOptions { members_max: usize::MAX, ..MixtureOptions::default() };
    let found = checked(&planted.vectors, options.dimensions, &unbounded);
    let go_on = Cancellation::default();
    let rows = principal::<WIDTH>(&Rows::unit(&planted.vectors, options.dimensions), DIMENSIONS, 1, &go_on).unwrap();
    let k_means_options = k_means::KMeansOptions { rows_per_mean: 256, rounds_max: 50, seed: 1 };
    let alone = k_means::k_means(&rows, found.count, k_means_options, &go_on).unwrap();
    (adjusted_rand(&most_probable(&found), &planted.groups), adjusted_rand(&alone, &planted.groups))
}

#[test]
fn planted_groups_are_found_better_than_by_k_means_alone() {
    let (mut ours, mut alone) = (0.0, 0.0);
    for seed in 7..12 {
        let (found, by_k_means) = agreements(PlantedOptions { seed, ..PLANTED });
        (ours, alone) = (ours + found / 5.0, alone + by_k_means / 5.0);
    }
    assert!(ours > 0.75 && ours > alone, "1,000: {ours} and {alone}");
    let (ours, alone) = agreements(PlantedOptions { count: 10_000, groups_per_topic: 10, ..PLANTED });
    assert!(ours > 0.7 && ours > alone, "10,000: {ours} and {alone}");
}

#[test]
fn there_are_more_clusters_of_more_vectors() {
    let count_of = |count| {
        let planted = planted(PlantedOptions { count, groups_per_topic: 10, ..PLANTED });
        checked(&planted.vectors, PLANTED.dimensions, &MixtureOptions::default()).count
    };
    let counts = [100, 1_000, 4_000].map(count_of);
    assert!(counts.is_sorted_by(|a, b| 2 * a < *b), "{counts:?}");
}

#[test]
fn vectors_between_clusters_are_in_several() {
    let options = PlantedOptions { count: 4_000, groups_per_topic: 10, noise: 2.0, ..PLANTED };
    let vectors = planted(options).vectors;
    let mean = memberships_mean(&checked(&vectors, options.dimensions, &MixtureOptions::default()));
    assert!((1.15..2.0).contains(&mean), "{mean}");
    let hard = MixtureOptions { threshold: 1.0, ..MixtureOptions::default() };
    assert!((memberships_mean(&checked(&vectors, options.dimensions, &hard)) - 1.0).abs() < 1e-9);
}

#[test]
fn clusters_are_the_same_for_a_seed_with_any_number_of_threads() {
    let options = PlantedOptions { count: 3_000, groups_per_topic: 5, noise: 1.2, ..PLANTED };
    let vectors = planted(options).vectors;
    let with = |threads, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = MixtureOptions { seed, ..MixtureOptions::default() };
        pool.install(|| soft_clusters(&vectors, PLANTED.dimensions, &options))
    };
    let found = with(1, 1);
    assert!(found == with(2, 1) && found == with(3, 1));
    assert!(found != with(2, 2));
}

#[test]
fn little_or_nothing_is_clustered() {
    let empty = SoftClusters { rows: vec![0], ..SoftClusters::default() };
    let options = MixtureOptions::default();
    assert_eq!(soft_clusters(&[], 4, &options), empty);
    assert_eq!(soft_clusters(&[1.0], 0, &options), empty);
    assert_eq!(soft_clusters(&[1.0; 3], 4, &options), empty);
    for vectors in [&[1.0, 0.0][..], &[1.0, 0.0, 0.0, 1.0], &[0.0, 1.0, 0.0], &[0.0; 4]] {
        assert_eq!(checked(vectors, 2, &options).count, 1, "{vectors:?}");
    }
    for count in 1..40 {
        let vectors = Random(count as u64).around(&vec![0.0; count * 3], 1.0);
        checked(&vectors, 3, &options);
        checked(&vectors, 3, &MixtureOptions { members_max: 2, ..options });
    }
}

#[test]
fn vectors_that_are_the_same_are_one_cluster_unless_it_is_too_large() {
    let vectors = [0.3, -0.1, 0.7].repeat(5_000);
    let unbounded = MixtureOptions { members_max: usize::MAX, ..MixtureOptions::default() };
    assert_eq!(checked(&vectors, 3, &unbounded).count, 1);
    assert_eq!(checked(&vectors, 3, &MixtureOptions::default()).count, 20);
    assert_eq!(checked(&vectors, 3, &MixtureOptions { members_max: 0, ..unbounded }).count, 5_000);
}

#[test]
fn far_vectors_and_such_that_are_not_finite_harm_no_others() {
    let options = MixtureOptions { members_max: usize::MAX, ..MixtureOptions::default() };
    let mut planted = planted(PLANTED);
    let before = checked(&planted.vectors, PLANTED.dimensions, &options);
    assert!(adjusted_rand(&most_probable(&before), &planted.groups) > 0.7);
    let values = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::MIN_POSITIVE, 1e-45, 1e6];
    for (at, value) in values.into_iter().enumerate() {
        planted.vectors[at * 71 * PLANTED.dimensions + at] = value;
    }
    let after = checked(&planted.vectors, PLANTED.dimensions, &options);
    assert!(adjusted_rand(&most_probable(&after), &planted.groups) > 0.7);
    checked(&[f32::NAN; 300], 3, &options);
    checked(&[f32::MAX; 300], 3, &options);
}

#[test]
fn one_far_vector_among_near_ones_does_no_harm() {
    let mut random = Random(3);
    for count in [20, 300, 3_000] {
        let mut vectors: Vec<f32> = (0..count).flat_map(|_| random.around(&[1.0, 0.0, 0.0, 0.0], 1e-4)).collect();
        vectors.extend([-1.0, 0.0, 0.0, 0.0]);
        let found = checked(&vectors, 4, &MixtureOptions::default());
        let most = most_probable(&found);
        assert!(!most[..count].contains(&most[count]), "it is alone among {count}");
    }
}

#[test]
fn copies_among_others_are_in_the_same_cluster() {
    let mut planted = planted(PLANTED);
    let first = planted.vectors[..PLANTED.dimensions].to_vec();
    for copy in 1..200 {
        planted.vectors[copy * 3 * PLANTED.dimensions..][..PLANTED.dimensions].copy_from_slice(&first);
    }
    let found = checked(&planted.vectors, PLANTED.dimensions, &MixtureOptions::default());
    let most = most_probable(&found);
    assert!((1..200).all(|copy| most[copy * 3] == most[0]));
}

#[test]
fn what_is_larger_than_asked_is_parted() {
    for (count, members_max) in [(257, 256), (101, 100), (17, 16), (11, 10), (1_000, 10), (1_000, 1)] {
        let vectors = planted(PlantedOptions { count, topics: 1, groups_per_topic: 1, ..PLANTED }).vectors;
        let found = checked(&vectors, PLANTED.dimensions, &MixtureOptions { members_max, ..MixtureOptions::default() });
        assert!(found.count >= count.div_ceil(members_max));
    }
}

#[test]
fn components_have_the_variances_that_eigenvalues_of_the_covariances_have() {
    let (count, columns) = (500, 24);
    let mut random = Random(5);
    let values: Vec<f32> = (0..count)
        .flat_map(|_| random.around(&vec![0.0; columns], 1.0))
        .zip((1..=columns).cycle())
        .map(|(value, at)| value / at as f32 + 3.0)
        .collect();
    let mean = |column: usize| values.iter().skip(column).step_by(columns).sum::<f32>() / count as f32;
    let means: Vec<f32> = (0..columns).map(mean).collect();
    let covariance = |a: usize, b: usize| {
        let of_row = |row: &[f32]| f64::from((row[a] - means[a]) * (row[b] - means[b]));
        values.chunks_exact(columns).map(of_row).sum::<f64>() / count as f64
    };
    let covariances = (0..columns * columns).map(|at| covariance(at / columns, at % columns)).collect();
    let due = eigen::eigen(covariances, columns);
    let rows = Rows::of(values.clone(), columns, count);
    let found = principal::<16>(&rows, 8, 1, &Cancellation::default()).unwrap();
    assert_eq!((found.count(), found.columns()), (count, 8));
    for (column, (due, _)) in due.iter().take(8).enumerate() {
        let variance = (0..count).map(|row| found.row(row)[column].powi(2)).sum::<f32>() / count as f32;
        assert!((f64::from(variance) / due - 1.0).abs() < 0.02, "{column}: {variance} {due}");
    }
}

#[test]
fn a_matrix_is_the_sum_over_its_eigenvectors() {
    let mut random = Random(9);
    let size = 12;
    let values = random.around(&vec![0.0; size * size], 1.0);
    let matrix: Vec<f64> =
        (0..size * size).map(|at| f64::from(values[at] + values[at % size * size + at / size])).collect();
    let pairs = eigen::eigen(matrix.clone(), size);
    assert!(pairs.is_sorted_by(|a, b| a.0 >= b.0));
    for (at, due) in matrix.iter().enumerate() {
        let sum: f64 = pairs.iter().map(|(value, vector)| value * vector[at / size] * vector[at % size]).sum();
        assert!((sum - due).abs() < 1e-9);
    }
}

#[test]
fn the_fallback_finds_what_linfa_finds_where_both_can() {
    let mut random = Random(2);
    let centers = [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.5]];
    let values: Vec<f32> = (0..300).flat_map(|row| random.around(&centers[row % 3], 0.05)).collect();
    let rows = Rows::of(values.clone(), 3, 300);
    let points = ndarray::Array2::from_shape_fn((300, 3), |(row, column)| f64::from(values[row * 3 + column]));
    let due: Vec<u32> = (0..300).map(|row| row % 3).collect();
    let options = k_means::KMeansOptions { rows_per_mean: 300, rounds_max: 1, seed: 1 };
    let cells = k_means::k_means(&rows, 3, options, &Cancellation::default()).unwrap();
    let ours = diagonal::diagonal(&rows, &cells, 3);
    let theirs = gaussian::full(&points, &cells, 3).unwrap();
    assert!(adjusted_rand(&ours.parts, &due) > 0.99 && adjusted_rand(&theirs.parts, &due) > 0.99);
    assert_eq!(theirs.parts, cells, "each Gaussian begins with its part");
    assert!(gaussian::full(&points, &[0; 300], 3).is_none(), "parts without points");
    let few = points.slice(ndarray::s![..5, ..]).to_owned();
    assert!(gaussian::full(&few, &[0, 1, 2, 3, 4], 8).is_none(), "more Gaussians than points");
}

/// Every block of rows, every start of k-means, every fit and every cluster checks for a stop.
#[test]
fn a_stop_ends_every_step() {
    let (options, stop) = (MixtureOptions::default(), Cancellation::default());
    let vectors = planted(PLANTED).vectors;
    let rows = principal::<WIDTH>(&Rows::unit(&vectors, PLANTED.dimensions), DIMENSIONS, 1, &stop).unwrap();
    stop.cancel();
    let is_stopped = |error: crate::error::Error| matches!(error, crate::error::Error::Cancelled);
    assert!(is_stopped(super::soft_clusters(&vectors, PLANTED.dimensions, &options, &stop).unwrap_err()));
    assert!(is_stopped(parting::hard_clusters(&rows, &options, &stop).unwrap_err()));
    assert!(is_stopped(memberships(&rows, &[0; 1_000], 1, &options, &stop).unwrap_err()));
    let k_means_options = k_means::KMeansOptions { rows_per_mean: 256, rounds_max: 50, seed: 1 };
    assert!(is_stopped(k_means::k_means(&rows, 3, k_means_options, &stop).unwrap_err()));
    assert!(principal::<WIDTH>(&rows, DIMENSIONS, 1, &stop).is_err_and(is_stopped));
}
