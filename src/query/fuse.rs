//! One list out of those for a question and for its parts. The whole question's is always one of them: parts add to it
//! and never take its place.
//!
//! score(d) = 1/(k + rank of d for the question) + the best over parts of w/(k + rank of d for the part)
//!
//! Reciprocal rank fusion (Cormack and others, 2009) adds up over all lists; what one part asks for is not what another
//! does, so that only the best of them counts.

use rustc_hash::FxHashMap;

use super::options::Preset;
use crate::domain::{Hit, PassageId};

/// Constant of the fusion.
const FUSION: f32 = 2.0;
/// Weight of a part beside the whole question.
const PART_WEIGHT: f32 = 1.0;

/// What was found for one form of a part of a question.
pub(super) struct PartList {
    /// The part, from 0.
    pub(super) part: usize,
    /// How likely its answers are: 0 for the likeliest.
    pub(super) rank: u32,
    /// What was put to the index.
    pub(super) question: String,
    /// The passages, best first.
    pub(super) hits: Vec<Hit>,
}

/// Returns the passages of all lists, best first, ranked anew, none twice.
pub(super) fn fused(whole: Vec<Hit>, parts: Vec<PartList>, preset: Preset) -> Vec<Hit> {
    if parts.is_empty() {
        return whole;
    }
    let mut hits = match preset {
        Preset::Paper => interleaved(parts),
        Preset::Measured => by_rank(whole, parts),
    };
    for (hit, rank) in hits.iter_mut().zip(1..) {
        hit.rank = rank;
    }
    hits
}

fn env(name: &str, or: f32) -> f32 {
    std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(or)
}

fn by_rank(whole: Vec<Hit>, parts: Vec<PartList>) -> Vec<Hit> {
    let (k, weight, decay) = (env("FK", FUSION), env("FW", PART_WEIGHT), env("FD", 0.5));
    let kw = env("FKW", k);
    let worth = |rank: u32| 1.0 / (k + rank as f32);
    let mut best: FxHashMap<PassageId, f32> = FxHashMap::default();
    for list in &parts {
        let weight = weight * decay.powi(list.rank as i32);
        for hit in &list.hits {
            let score: &mut f32 = best.entry(hit.passage).or_default();
            *score = score.max(weight * worth(hit.rank));
        }
    }
    let mut all: Vec<Hit> = Vec::new();
    let mut seen: FxHashMap<PassageId, ()> = FxHashMap::default();
    for mut hit in whole {
        hit.score = 1.0 / (kw + hit.rank as f32) + best.get(&hit.passage).copied().unwrap_or_default();
        seen.insert(hit.passage, ());
        all.push(hit);
    }
    for mut hit in parts.into_iter().flat_map(|list| list.hits) {
        if seen.insert(hit.passage, ()).is_none() {
            hit.score = best.get(&hit.passage).copied().unwrap_or_default();
            all.push(hit);
        }
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}

/// The baseline: the best of each part, the second of each, and so on; the whole question is no list.
fn interleaved(parts: Vec<PartList>) -> Vec<Hit> {
    let mut lists: Vec<_> = parts.into_iter().map(|list| list.hits.into_iter()).collect();
    let mut seen: FxHashMap<PassageId, ()> = FxHashMap::default();
    let mut all = Vec::new();
    loop {
        let row: Vec<Hit> = lists.iter_mut().filter_map(Iterator::next).collect();
        if row.is_empty() {
            return all;
        }
        all.extend(row.into_iter().filter(|hit| seen.insert(hit.passage, ()).is_none()));
    }
}
