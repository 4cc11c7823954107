//! `trail`: question-guided propagation over names and shared entities, without any model call.

use std::sync::Arc;

use super::{Finding, Found, Query, Strategy, on_cpu};
use crate::domain::{HopRound, Ledger, Step, StepKind};
use crate::error::Result;
use crate::graph::packed::row;
use crate::graph::top;
use crate::graph::trail::{Taken, TrailOptions, TrailWalk, TrailWeights, walk};
use crate::query::options::StrategyKind;
use crate::query::weights::shipped_weights;

/// See [`crate::graph::trail`].
pub(super) struct Trail;

impl Strategy for Trail {
    fn kind(&self) -> StrategyKind {
        StrategyKind::Trail
    }

    fn find(&self, query: Arc<Query>) -> Finding {
        on_cpu(query, find)
    }
}

fn find(query: &Query) -> Result<Found> {
    let graph = query.reader.graph();
    let mut options = TrailOptions::default();
    options.rounds = query.options.n_hop.unwrap_or(options.rounds);
    let walked = walk(graph, &query.evidence, weights(query)?, &options);
    let ranked = top::best_of(&walked.scores, query.options.top_k);
    let paths = ranked.iter().map(|(passage, _)| (*passage, path(query, &walked, *passage))).collect();
    let ledger = ledger(query, &walked, &options, &ranked);
    Ok(Found { ranked, paths, ledger })
}

/// Returns the weights that were given or else those for the vectors of the index, and of these those for documents
/// with titles where at least half of the documents have one.
fn weights(query: &Query) -> Result<&TrailWeights> {
    let set = match &query.options.weights {
        Some(given) => given.as_ref(),
        None => shipped_weights(query.reader.embedder())?,
    };
    Ok(set.of(query.reader.counts()))
}

fn path(query: &Query, walked: &TrailWalk, passage: u32) -> Vec<Step> {
    walked.path(passage).iter().map(|(round, taken)| step(query, *round, taken)).collect()
}

fn step(query: &Query, round: u32, taken: &Taken) -> Step {
    let entity = shown_name(query, taken.edge.entity);
    let question = match taken.edge.kind {
        StepKind::SharedEntity => format!("What else is said of {entity}?"),
        StepKind::Name | StepKind::QuestionEdge => format!("What is {entity}?"),
    };
    Step {
        from: query.reader.passage_id(taken.from),
        to: query.reader.passage_id(taken.edge.to),
        kind: taken.edge.kind,
        question,
        entity: Some(entity),
        score: taken.gain,
        round,
    }
}

/// Returns the name of an entity as people write it: the title that bears it, or else its words capitalized.
fn shown_name(query: &Query, entity: u32) -> String {
    let graph = query.reader.graph();
    let folded = graph.entity_name(entity);
    let titles = row(graph.entity_bearers, entity)
        .filter_map(|bearer| query.reader.document(graph.bearer_document[bearer]).ok()?.title);
    let bears = |title: &String| crate::text::tokens(title).join(" ") == folded;
    titles.into_iter().find(bears).unwrap_or_else(|| capitalized(folded))
}

fn capitalized(folded: &str) -> String {
    let capitalize = |word: &str| {
        let mut chars = word.chars();
        match chars.next() {
            Some(first) if !crate::text::is_linking_word(word) => first.to_uppercase().chain(chars).collect(),
            _ => word.to_owned(),
        }
    };
    folded.split(' ').map(capitalize).collect::<Vec<String>>().join(" ")
}

fn ledger(query: &Query, walked: &TrailWalk, options: &TrailOptions, ranked: &[(u32, f32)]) -> Ledger {
    let seeds = top::best_of(&walked.seeds, options.expanded);
    let rounds = walked.rounds.iter().zip(1..).map(|(round, number)| {
        let mut taken: Vec<_> =
            round.taken.values().filter(|taken| ranked.iter().any(|it| it.0 == taken.edge.to)).collect();
        taken.sort_unstable_by(|a, b| top::best_first(&(a.edge.to, a.gain), &(b.edge.to, b.gain)));
        let steps = taken.into_iter().map(|taken| step(query, number, taken)).collect();
        HopRound { queue: round.expanded.len() as u32, judged: round.judged, steps }
    });
    let reached = walked.rounds.last().map_or(0, |round| round.taken.len());
    let mut below: Vec<(u32, f32)> = walked.rounds.last().map_or_else(Vec::new, |round| {
        let scored = round.taken.keys().map(|passage| (*passage, walked.scores[*passage as usize]));
        scored.filter(|(passage, _)| ranked.iter().all(|it| it.0 != *passage)).collect()
    });
    below.sort_unstable_by(top::best_first);
    Ledger {
        entry: query.entry(&seeds, "seed"),
        rounds: rounds.collect(),
        pruned_count: below.len().min(reached) as u32,
        pruned: query.pruned(below.into_iter()),
        ..query.new_ledger()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folded_name_is_shown_with_capitals() {
        assert_eq!(capitalized("duke of port aven"), "Duke of Port Aven");
    }
}
