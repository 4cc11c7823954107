//! The best edges between the first passages of a walk and the passages that they lead to.

use rustc_hash::FxHashMap;

use super::edges::EdgeCandidate;
use super::lent;
use super::weights::{EdgeFeatures, TrailWeights};
use crate::graph::ordinal::PassageOrdinal;
use crate::graph::top;

/// The best edge from a source to a target.
#[derive(Clone, Copy)]
pub(super) struct Link {
    /// The source, by place.
    pub(super) source: usize,
    /// Its number among the edges of the source.
    pub(super) edge: usize,
    pub(super) gain: f32,
    pub(super) worth: f32,
    /// Its place among the targets of the source.
    pub(super) place: usize,
}

/// The best edges of every source, and of every target.
#[derive(Default)]
pub(super) struct Links {
    /// Target → link, by source.
    pub(super) by_source: Vec<FxHashMap<PassageOrdinal, Link>>,
    /// Gains of the best and the second best target, by source.
    pub(super) best_two: Vec<[f32; 2]>,
    /// Links into each target, best first.
    pub(super) by_target: FxHashMap<PassageOrdinal, Vec<Link>>,
    /// The gain of every edge, by source.
    pub(super) gains: Vec<Vec<f32>>,
}

impl Links {
    pub(super) fn of(
        edges: &[Vec<EdgeCandidate>],
        scored: &[(PassageOrdinal, f32)],
        (low, high): (f32, f32),
        weights: &TrailWeights,
    ) -> Self {
        let weights = EdgeFeatures::from(weights.edge);
        let mut links = Self::default();
        for (source, (edges, leader)) in edges.iter().zip(scored).enumerate() {
            let lent = lent(leader.1, low, high);
            let mut best: FxHashMap<PassageOrdinal, Link> = FxHashMap::default();
            let mut gains = Vec::with_capacity(edges.len());
            for (edge, candidate) in edges.iter().enumerate() {
                let worth: f32 = candidate.features.iter().zip(&weights).map(|(value, weight)| value * weight).sum();
                let link = Link { source, edge, gain: lent * worth, worth, place: 0 };
                gains.push(link.gain);
                let known = best.entry(candidate.to).or_insert(link);
                if link.worth > known.worth {
                    *known = link;
                }
            }
            links.gains.push(gains);
            links.add(best);
        }
        for into in links.by_target.values_mut() {
            into.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        }
        links
    }

    /// Adds the best links of the next source.
    fn add(&mut self, mut best: FxHashMap<PassageOrdinal, Link>) {
        let mut order: Vec<(PassageOrdinal, f32)> = best.iter().map(|(to, link)| (*to, link.gain)).collect();
        order.sort_unstable_by(top::best_first);
        let gain = |place: usize| order.get(place).map_or(0.0, |it| it.1);
        self.best_two.push([gain(0), gain(1)]);
        for (place, (to, _)) in order.iter().enumerate() {
            if let Some(link) = best.get_mut(to) {
                link.place = place;
                self.by_target.entry(*to).or_default().push(*link);
            }
        }
        self.by_source.push(best);
    }

    /// Returns the best link into a passage, if it has a gain.
    pub(super) fn best_into(&self, passage: PassageOrdinal) -> Option<&Link> {
        self.by_target.get(&passage)?.first().filter(|link| link.gain > 0.0)
    }
}

/// The best features of the edges of one source.
#[derive(Clone, Copy, Default)]
pub(super) struct Best {
    pub(super) cue: f32,
    pub(super) residual: f32,
    pub(super) sentence_residual: f32,
    pub(super) target_cue: f32,
}

impl Best {
    pub(super) fn of(edges: &[EdgeCandidate]) -> Self {
        let mut best = Self::default();
        for edge in edges {
            let [_, _, _, _, _, cue, _, residual, sentence_residual, _] = edge.features;
            best.cue = best.cue.max(cue);
            best.residual = best.residual.max(residual);
            best.sentence_residual = best.sentence_residual.max(sentence_residual);
            best.target_cue = best.target_cue.max(edge.target_cue);
        }
        best
    }
}
