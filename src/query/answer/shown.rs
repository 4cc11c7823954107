//! What a language model is shown to write an answer from: the best passages, and what was noted of them on the way.

use crate::domain::{Answer, AnsweredBy, Hit, PassageId, PlanNote};
use crate::skill::ShownNote;

/// See the top of this file.
pub(super) struct Shown {
    pub(super) hits: Vec<Hit>,
    /// Empty, unless a strategy noted something.
    pub(super) notes: Vec<ShownNote>,
}

impl Shown {
    /// Returns the best `count` passages of an answer, with what a model noted of them. Where a model judged relevance,
    /// only what is relevant is shown, those that notes were read in first.
    pub(super) fn of(answer: &Answer, count: usize) -> Self {
        let Some(plan) = answer.ledger.plan.as_ref().filter(|plan| !plan.relevant.is_empty()) else {
            return Self { hits: answer.hits.iter().take(count).cloned().collect(), notes: Vec::new() };
        };
        let by_model: Vec<&PlanNote> = plan.notes.iter().filter(|note| note.by == AnsweredBy::Model).collect();
        let is_noted = |hit: &&Hit| by_model.iter().any(|note| note.passages.contains(&hit.passage));
        let is_relevant = |hit: &&Hit| plan.relevant.contains(&hit.passage);
        let (first, others): (Vec<&Hit>, Vec<&Hit>) =
            answer.hits.iter().filter(|hit| is_noted(hit) || is_relevant(hit)).partition(is_noted);
        let mut hits: Vec<Hit> = first.into_iter().chain(others).take(count).cloned().collect();
        if hits.is_empty() {
            hits = answer.hits.iter().take(count).cloned().collect();
        }
        let place = |passage: &PassageId| hits.iter().position(|hit| hit.passage == *passage);
        let shown = by_model.iter().map(|note| ShownNote {
            about: note.about.clone(),
            text: note.text.clone(),
            passages: note.passages.iter().filter_map(place).collect(),
        });
        // A note whose passages are not shown could not be cited.
        let notes = shown.filter(|note| !note.passages.is_empty()).collect();
        Self { hits, notes }
    }
}
