//! The rule twin of `read`: what the best passages for a part of a question lead to. One round of `trail` from them,
//! judged against the part, takes steps along entities; those along the best steps are the guesses.

use super::strategies::{Found, Query, shown_name, trail_weights};
use crate::domain::{AnsweredBy, PartAnswer};
use crate::error::Result;
use crate::graph::trail::{TrailOptions, walk};
use crate::skill::PART_ANSWERS_MAX;

/// Passages whose steps are looked at.
const EXPANDED: usize = 3;

/// Returns guesses, the likeliest first.
///
/// # Errors
///
/// If the store cannot be read.
pub(super) fn by_rule(query: &Query, _found: &Found) -> Result<Vec<PartAnswer>> {
    let options = TrailOptions { rounds: 1, expanded: EXPANDED, ..TrailOptions::default() };
    let walked = walk(query.reader.graph(), &query.evidence, trail_weights(query)?, &options);
    let Some(round) = walked.rounds.first() else { return Ok(Vec::new()) };
    let mut steps: Vec<_> =
        round.taken.values().filter(|it| !query.evidence.entities.contains(&it.edge.entity)).collect();
    steps.sort_unstable_by(|a, b| b.gain.total_cmp(&a.gain).then(a.edge.to.cmp(&b.edge.to)));
    let mut entities: Vec<u32> = Vec::new();
    let mut answers = Vec::new();
    for step in steps {
        if entities.len() < PART_ANSWERS_MAX && !entities.contains(&step.edge.entity) {
            entities.push(step.edge.entity);
            answers.push(PartAnswer {
                text: shown_name(query, step.edge.entity),
                by: AnsweredBy::Rule,
                passage: query.reader.passage_id(step.from),
            });
        }
    }
    Ok(answers)
}
