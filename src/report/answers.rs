//! Example questions: quoted answers, and the paths that led to them.

use std::collections::BTreeMap;

use super::contents::LINE_CHARS_MAX;
use super::names::{numbers, passage_name};
use crate::domain::{Answer, AnswerKind, PassageId, Step, StepKind};
use crate::error::Result;
use crate::query::{AskOptions, QueryEngine};
use crate::text::clipped;
use crate::workspace::Snapshot;

/// Characters of a quotation.
const QUOTE_CHARS_MAX: usize = 1_000;
/// Steps of a path.
const STEPS_MAX: usize = 16;

/// The result of a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answered {
    pub(super) question: String,
    pub(super) kind: AnswerKind,
    /// The text if nothing was found.
    pub(super) text: String,
    pub(super) strategy: String,
    pub(super) guess: Option<(String, String)>,
    pub(super) quotes: Vec<Quote>,
    pub(super) hits: Vec<Reached>,
}

/// A quotation.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quote {
    pub(super) text: String,
    pub(super) name: String,
    pub(super) place: String,
    pub(super) path: Vec<Leg>,
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reached {
    pub(super) name: String,
    pub(super) place: String,
    pub(super) path: Vec<Leg>,
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leg {
    pub(super) from: String,
    pub(super) to: String,
    /// Along what: an entity, or else a question.
    pub(super) along: Along,
}

/// The kind of edge that a step follows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Along {
    Question(String),
    Name(String),
    SharedName(String),
}

impl Along {
    /// Returns the kind of edge that a step follows.
    pub(super) fn of(step: &Step) -> Self {
        let entity = step.entity.as_deref().map(|it| clipped(it, LINE_CHARS_MAX));
        match (step.kind, entity) {
            (StepKind::Name, Some(entity)) => Self::Name(entity),
            (StepKind::SharedEntity, Some(entity)) => Self::SharedName(entity),
            _ => Self::Question(clipped(&step.question, LINE_CHARS_MAX)),
        }
    }
}

/// Asks the questions as `cairn ask` does.
pub(super) async fn ask(
    engine: &QueryEngine,
    snapshot: &Snapshot,
    questions: &[String],
    options: &AskOptions,
) -> Result<Vec<Answered>> {
    let mut answered = Vec::with_capacity(questions.len());
    for question in questions {
        let answer = engine.ask(question, options).await?;
        answered.push(shown(snapshot, &answer)?);
    }
    Ok(answered)
}

fn shown(snapshot: &Snapshot, answer: &Answer) -> Result<Answered> {
    let names = names(snapshot, answer)?;
    let name = |passage: PassageId| names.get(&passage).cloned().unwrap_or_default();
    let legs = |path: &[Step]| -> Vec<Leg> {
        let leg = |step: &Step| Leg { from: name(step.from), to: name(step.to), along: Along::of(step) };
        path.iter().take(STEPS_MAX).map(leg).collect()
    };
    let place = |location: String| clipped(&location, LINE_CHARS_MAX);
    let quotes = answer.citations.iter().map(|it| Quote {
        text: clipped(&it.quote, QUOTE_CHARS_MAX),
        name: name(it.passage),
        place: place(it.location()),
        path: answer.hits.iter().find(|hit| hit.passage == it.passage).map_or_else(Vec::new, |hit| legs(&hit.path)),
    });
    let hits = answer.hits.iter().map(|it| Reached {
        name: name(it.passage),
        place: place(it.location()),
        path: legs(&it.path),
    });
    Ok(Answered {
        question: answer.question.clone(),
        kind: answer.kind,
        text: answer.text.clone(),
        strategy: answer.strategy.clone(),
        guess: answer.guess.as_ref().map(|it| (clipped(&it.text, LINE_CHARS_MAX), it.rule.clone())),
        quotes: quotes.collect(),
        hits: hits.collect(),
    })
}

fn names(snapshot: &Snapshot, answer: &Answer) -> Result<BTreeMap<PassageId, String>> {
    let on_ways = answer.hits.iter().flat_map(|hit| &hit.path).flat_map(|step| [step.from, step.to]);
    let wanted: Vec<PassageId> = answer.hits.iter().map(|hit| hit.passage).chain(on_ways).collect();
    let name = |(id, passage)| Ok((id, passage_name(snapshot, passage)?));
    numbers(snapshot, &wanted).into_iter().map(name).collect()
}
