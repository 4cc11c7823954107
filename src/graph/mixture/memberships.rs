//! Soft memberships: one step of a mixture with variances only, from hard clusters.

use rayon::prelude::*;

use super::MixtureOptions;
use super::diagonal::{Component, Share, components, to_probabilities};
use super::gaussian::most;
use super::rows::Rows;
use crate::domain::Cancellation;
use crate::error::Result;

/// Clusters that a row may be in: its own, and those nearest to that.
const CANDIDATES: usize = 8;

/// How much a row is in a cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Membership {
    pub(super) cluster: u32,
    pub(super) weight: f32,
}

/// Returns the memberships of each row, the strongest first, whose weights sum to 1. No cluster gets more than
/// [`MixtureOptions::members_max`] rows. Takes `O(rows · CANDIDATES · columns + count² · columns)`.
pub(super) fn memberships(
    rows: &Rows,
    hard: &[u32],
    count: usize,
    options: &MixtureOptions,
    cancellation: &Cancellation,
) -> Result<Vec<Vec<Membership>>> {
    let shares: Vec<Share> = (0..).zip(hard).map(|(row, part)| Share { row, part: *part, weight: 1.0 }).collect();
    let components = components(rows, &shares, count);
    let near = near(&components, cancellation)?;
    let of_row = |(row, own): (usize, &u32)| {
        let candidates = &near[*own as usize];
        let density = |cluster: &u32| components[*cluster as usize].log_density(rows.row(row), options.temperature);
        let mut weights: Vec<f64> = candidates.iter().map(density).collect();
        to_probabilities(&mut weights);
        cancellation.check()?;
        Ok(kept(candidates, &weights, options))
    };
    let mut all: Vec<Vec<Membership>> = hard.par_iter().enumerate().map(of_row).collect::<Result<_>>()?;
    bound(&mut all, hard, count, options.members_max.max(1));
    all.par_iter_mut().for_each(|memberships| normalize(memberships));
    Ok(all)
}

/// Returns the clusters nearest to each, beginning with itself, by their means in the mean of both variances.
fn near(components: &[Component], cancellation: &Cancellation) -> Result<Vec<Vec<u32>>> {
    let distance = |a: &Component, b: &Component| {
        let means = a.mean.iter().zip(&b.mean).map(|(a, b)| (a - b) * (a - b));
        let precisions = a.precisions.iter().zip(&b.precisions).map(|(a, b)| a.min(*b));
        means.zip(precisions).map(|(square, precision)| square * precision).sum::<f64>()
    };
    let of_cluster = |(own, component): (usize, &Component)| {
        cancellation.check()?;
        let others = (0..).zip(components).filter(|(other, _)| *other as usize != own);
        let mut others: Vec<(f64, u32)> = others.map(|(other, it)| (distance(component, it), other)).collect();
        let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if others.len() >= CANDIDATES {
            others.select_nth_unstable_by(CANDIDATES - 2, order);
            others.truncate(CANDIDATES - 1);
        }
        others.sort_unstable_by(order);
        Ok(std::iter::once(own as u32).chain(others.into_iter().map(|(_, other)| other)).collect())
    };
    components.par_iter().enumerate().map(of_cluster).collect()
}

/// Returns the most probable memberships above the threshold, and always the most probable one.
fn kept(candidates: &[u32], weights: &[f64], options: &MixtureOptions) -> Vec<Membership> {
    let most = most(weights) as usize;
    let above = |(place, weight): &(usize, &f64)| *place == most || **weight > f64::from(options.threshold);
    let kept = weights.iter().enumerate().filter(above);
    let mut memberships: Vec<Membership> =
        kept.map(|(place, weight)| Membership { cluster: candidates[place], weight: *weight as f32 }).collect();
    memberships.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    memberships.truncate(options.memberships_max.max(1));
    memberships
}

/// Takes the weakest memberships from clusters that have too many. A place in its hard cluster is always reserved for a
/// row, which goes there if it has no other.
fn bound(all: &mut [Vec<Membership>], hard: &[u32], count: usize, members_max: usize) {
    let mut places = vec![members_max; count];
    for own in hard {
        places[*own as usize] = places[*own as usize].saturating_sub(1);
    }
    let mut guests: Vec<Vec<(f32, u32)>> = vec![Vec::new(); count];
    for ((row, memberships), own) in (0..).zip(all.iter()).zip(hard) {
        for membership in memberships.iter().filter(|membership| membership.cluster != *own) {
            guests[membership.cluster as usize].push((membership.weight, row));
        }
    }
    for ((cluster, guests), places) in (0..).zip(&mut guests).zip(places) {
        if guests.len() > places {
            guests.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            for (_, row) in guests.drain(places..) {
                all[row as usize].retain(|membership| membership.cluster != cluster);
            }
        }
    }
    for (memberships, own) in all.iter_mut().zip(hard).filter(|(memberships, _)| memberships.is_empty()) {
        memberships.push(Membership { cluster: *own, weight: 1.0 });
    }
}

fn normalize(memberships: &mut [Membership]) {
    let sum: f32 = memberships.iter().map(|membership| membership.weight).sum();
    for membership in memberships {
        membership.weight /= sum;
    }
}
