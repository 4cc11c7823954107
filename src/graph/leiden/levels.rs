//! Communities within communities.

use rayon::prelude::*;

use super::graph::WeightedGraph;
use super::{LeidenOptions, members, partition};
use crate::domain::Cancellation;
use crate::error::Result;
use crate::graph::random::part_seed;

/// Levels at most: weights that fall by a factor from edge to edge would part a graph edge by edge.
const LEVELS_MAX: u32 = 64;

/// A community on one of the levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Community {
    /// Its level, from 0 for those that are in no other.
    pub level: u32,
    /// The community that it is a part of, by its place among all; none on level 0.
    pub parent: Option<u32>,
    /// Its vertices, in order.
    pub members: Vec<u32>,
}

/// Returns the communities of a graph on all levels, those of a level after those of the level above: the parts of
/// communities with more than [`LeidenOptions::members_max`] members form the next level. Communities that cannot be
/// divided stay whole, and so do those on the last of 64 levels.
///
/// # Errors
///
/// [`Error::Cancelled`](crate::error::Error::Cancelled) if a stop was asked for.
pub fn levels(graph: &WeightedGraph, options: &LeidenOptions, cancellation: &Cancellation) -> Result<Vec<Community>> {
    let groups = partition(graph, options, cancellation)?;
    let count = groups.iter().max().map_or(0, |most| *most as usize + 1);
    let mut all: Vec<Community> =
        members(&groups, count).into_iter().map(|members| Community { level: 0, parent: None, members }).collect();
    let mut begin = 0;
    while begin < all.len() && all[begin].level + 1 < LEVELS_MAX {
        let level = &all[begin..];
        let parts: Vec<Vec<Community>> = level
            .par_iter()
            .zip(begin as u32..all.len() as u32)
            .filter(|(community, _)| community.members.len() > options.members_max.max(1))
            .map_init(
                || vec![u32::MAX; graph.vertex_count()],
                |places, (community, number)| {
                    let inside = graph.induced(&community.members, places);
                    let seed = part_seed(options.seed, u64::from(number));
                    parts(community, number, &inside, &LeidenOptions { seed, ..*options }, cancellation)
                },
            )
            .collect::<Result<_>>()?;
        begin = all.len();
        all.extend(parts.into_iter().flatten());
    }
    Ok(all)
}

/// Returns the parts of a community, if there are several.
fn parts(
    community: &Community,
    number: u32,
    inside: &WeightedGraph,
    options: &LeidenOptions,
    cancellation: &Cancellation,
) -> Result<Vec<Community>> {
    let groups = partition(inside, options, cancellation)?;
    let count = groups.iter().max().map_or(0, |most| *most as usize + 1);
    if count < 2 {
        return Ok(Vec::new());
    }
    let named = |places: Vec<u32>| places.into_iter().map(|place| community.members[place as usize]).collect();
    let part = |places| Community { level: community.level + 1, parent: Some(number), members: named(places) };
    Ok(members(&groups, count).into_iter().map(part).collect())
}
