//! The passages behind the rows of the levels.

use std::collections::{BTreeMap, BTreeSet};

use super::Levels;
use super::communities::{Chosen, Counted};
use crate::domain::{LayersMode, QuestionScope};
use crate::error::Result;
use crate::graph::hierarchy::NONE;
use crate::graph::ordinal::{Ordinal as _, PassageOrdinal, SentenceOrdinal};
use crate::graph::top;
use crate::query::retrievers::flat::hybrid_scores;
use crate::query::topics;

/// Weight of a sentence of a level in a passage, relative to its own score by `hybrid`.
const LEVEL_WORTH: f32 = 0.5;

/// Returns the passages behind the levels, best first: those of `trail` in its order, or else those with the sentences
/// of the levels, each by its own score and the nearness of these sentences. Without a subject, they are those of the
/// findings of communities.
pub(super) fn behind(levels: &Levels<'_>, count: usize) -> Result<Vec<(PassageOrdinal, f32)>> {
    if let Some(walked) = levels.walked {
        let mut ranked = walked.ranked.clone();
        ranked.truncate(count);
        return Ok(ranked);
    }
    let found = if levels.scope == QuestionScope::Collection { by_findings(levels, count) } else { Vec::new() };
    if found.is_empty() { by_levels(levels, count) } else { Ok(found) }
}

/// Returns the passages of the first findings of all communities, then those of the second ones, and so on.
fn by_findings(levels: &Levels<'_>, count: usize) -> Vec<(PassageOrdinal, f32)> {
    let graph = levels.query.reader.graph();
    let findings: Vec<Vec<SentenceOrdinal>> = levels.communities.iter().map(|it| findings(levels, it)).collect();
    let most = findings.iter().map(Vec::len).max().unwrap_or(0);
    let in_turn = (0..most).flat_map(|place| findings.iter().filter_map(move |findings| findings.get(place)));
    let mut seen = BTreeSet::new();
    let shown = in_turn.filter(|sentence| levels.nearness.is_shown(**sentence));
    let passages = shown.map(|sentence| graph.sentence_passage[*sentence]).filter(|passage| seen.insert(*passage));
    passages.zip(1_u16..).take(count).map(|(passage, rank)| (passage, 1.0 / f32::from(rank))).collect()
}

/// Returns the passages by their own scores and by the sentences of the levels in them.
fn by_levels(levels: &Levels<'_>, count: usize) -> Result<Vec<(PassageOrdinal, f32)>> {
    let query = levels.query;
    let mut said: BTreeMap<PassageOrdinal, f32> = BTreeMap::new();
    let graph = query.reader.graph();
    for sentence in sentences(levels) {
        let best = said.entry(graph.sentence_passage[sentence]).or_default();
        *best = best.max(levels.nearness.sentence(sentence));
    }
    let own = hybrid_scores(query)?;
    let score = |passage: PassageOrdinal| {
        own[passage.index()] + said.get(&passage).map_or(0.0, |said| LEVEL_WORTH * (1.0 + said))
    };
    let scored = graph.passages().filter(|it| query.is_allowed(*it)).map(|passage| (passage, score(passage)));
    Ok(top::best(scored, count))
}

fn findings(levels: &Levels<'_>, counted: &Counted) -> Vec<SentenceOrdinal> {
    topics::behind(levels.query.reader.as_ref(), levels.hierarchy, counted.community)
}

/// Returns the sentences that the levels have that may be shown.
fn sentences(levels: &Levels<'_>) -> Vec<SentenceOrdinal> {
    let (hierarchy, nearness) = (&levels.hierarchy, &levels.nearness);
    let mut all: Vec<SentenceOrdinal> = Vec::new();
    if levels.options.mode.has(LayersMode::Local) {
        for (chosen, _) in &levels.entered {
            match chosen {
                Chosen::Entity(entity) => all.extend(nearness.sentences_of(*entity)),
                Chosen::Summary(summary) => all.extend(nearness.summary_sentences(*summary)),
            }
        }
    }
    if levels.options.mode.has(LayersMode::Global) {
        all.extend(levels.communities.iter().flat_map(|it| findings(levels, it)));
    }
    let related = levels.relations.iter().map(|it| hierarchy.relation_sentence[it.1]);
    all.extend(related.filter(|sentence| sentence.0 != NONE));
    all.retain(|sentence| nearness.is_shown(*sentence));
    all
}
