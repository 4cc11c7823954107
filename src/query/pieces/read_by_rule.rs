//! The rule twin of `read`: the entities of the best passages for a part of a question, ranked by how a passage
//! mentions them.
//!
//! worth(e in A) = s(A)/s(best) + 0.3 · own + 0.5 · rarity + 0.5 · cue + sentence
//!
//! All but the first are what [`EdgeWeights`](crate::graph::trail::EdgeWeights) weigh too: whether e is a name of A,
//! how few documents mention it, how well the words around it meet those of the part, and how much of the part its
//! sentence covers. An entity that the part names cannot be its answer. On the first parts of musique-dev, the right
//! answer is the first guess for 40 %, among three for 70 %.

use rustc_hash::FxHashMap;

use crate::domain::{AnsweredBy, PassageId, SubAnswer};
use crate::error::Result;
use crate::graph::ordinal::{EntityOrdinal, PassageOrdinal};
use crate::graph::top;
use crate::graph::trail::{TrailOptions, edge_candidates};
use crate::query::session::query::Ranking;
use crate::skill::PART_ANSWERS_MAX;
use crate::store::spelling;

/// Passages that are read.
const PASSAGES: usize = 3;
const OWN: f32 = 0.3;
const RARITY: f32 = 0.5;
const CUE: f32 = 0.5;

/// Returns guesses, the likeliest first, from the best of the passages that are read.
///
/// # Errors
///
/// If the store cannot be read.
pub(in crate::query) fn guesses(found: &Ranking, is_read: impl Fn(&PassageId) -> bool) -> Result<Vec<SubAnswer>> {
    let query = &found.query;
    let read = found.ranked.iter().filter(|it| is_read(&query.reader.passage_id(it.0)));
    let best: Vec<(PassageOrdinal, f32)> = read.take(PASSAGES).copied().collect();
    let high = best.first().map_or(0.0, |it| it.1).max(1e-6);
    let sources: Vec<PassageOrdinal> = best.iter().map(|it| it.0).collect();
    let lists = edge_candidates(query.reader.graph(), &query.evidence()?, &sources, &TrailOptions::default());
    // The best mention of each entity, and where it is.
    let mut worth: FxHashMap<EntityOrdinal, (f32, PassageOrdinal)> = FxHashMap::default();
    for (edges, (passage, score)) in lists.into_iter().zip(&best) {
        for edge in edges {
            let [_, _, own, rarity, in_question, cue, sentence, ..] = edge.features;
            let said = score / high + OWN * own + RARITY * rarity + CUE * cue + sentence;
            let known = worth.entry(edge.entity).or_insert((f32::NEG_INFINITY, *passage));
            if in_question <= 0.0 && said > known.0 {
                *known = (said, *passage);
            }
        }
    }
    let said = worth.iter().filter(|(_, said)| said.0.is_finite()).map(|(entity, said)| (*entity, said.0));
    let answer = |(entity, _): (EntityOrdinal, f32)| {
        let passage = query.reader.passage_id(worth[&entity].1);
        Ok(SubAnswer { text: spelling(query.reader.as_ref(), entity)?, by: AnsweredBy::Rule, passage })
    };
    top::best(said, PART_ANSWERS_MAX).into_iter().map(answer).collect()
}
