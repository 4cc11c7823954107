//! Answers one part of a question: retrieve passages, keep the relevant ones, and read the answer from these, as in
//! `HANRAG` (its ANRAG). A model judges and reads; if it cannot, rules do.

use std::sync::Arc;

use super::fuse::RankedList;
use super::pick::found_passages;
use super::read_by_rule::guesses;
use super::relevance::{Relevant, judged};
use super::smaller::{Missed, searched};
use crate::domain::{AnsweredBy, Hit, PassageId, PlanNote, SubAnswer, SubQuestionTrace};
use crate::error::Result;
use crate::query::session::Session;
use crate::query::strategies::{Found, Strategy};
use crate::skill::{ReadSkill, ReadTask};

/// Passages that are found for a part.
const PART_PASSAGES: usize = 20;
/// Relevant passages of a part that its answer is read in.
const READ_PASSAGES: usize = 5;
/// Passages of a part that a ledger names.
const PART_PASSAGES_SHOWN: usize = 5;

/// How parts are found and judged.
#[derive(Clone)]
pub(in crate::query) struct PartSearch {
    /// What finds passages.
    pub(in crate::query) strategy: Arc<dyn Strategy>,
    /// Passages of a part that are judged; with 0 all continue.
    pub(in crate::query) judged: usize,
    /// Whether a rule made the parts.
    pub(in crate::query) is_guessed: bool,
}

/// A part with its result.
#[derive(Default)]
pub(in crate::query) struct AnsweredPart {
    pub(in crate::query) trace: SubQuestionTrace,
    pub(in crate::query) list: Option<RankedList>,
    /// Passages that a model judged relevant to it; none if a rule judged.
    pub(in crate::query) relevant: Vec<PassageId>,
    /// Why it could not be searched for.
    pub(in crate::query) problem: Option<String>,
}

impl AnsweredPart {
    /// Returns the likeliest answer.
    pub(in crate::query) fn answer(&self) -> Option<&SubAnswer> {
        self.trace.answers.first()
    }

    /// Returns its answer as a note.
    pub(in crate::query) fn note(&self, round: u32) -> Option<PlanNote> {
        self.answer().map(|answer| PlanNote {
            about: self.trace.text.clone(),
            text: answer.text.clone(),
            by: answer.by,
            passages: vec![answer.passage],
            round,
        })
    }
}

/// Finds passages for the part `text`, the `number`th from 0, keeps the relevant ones, and reads its answer.
///
/// # Errors
///
/// [`Error::Chat`](crate::Error::Chat) if something about the model has to be corrected.
///
/// # Cancel safety
///
/// Dropping the future loses replies in flight, which may have been paid for.
pub(in crate::query) async fn answered_part(
    session: Session,
    (number, text): (u32, String),
    how: PartSearch,
) -> Result<AnsweredPart> {
    let trace = SubQuestionTrace { text: text.clone(), asked: vec![text.clone()], ..SubQuestionTrace::default() };
    let searching = session.without_model().with_top_k(PART_PASSAGES);
    let search = searching.ask(&text, how.strategy.as_ref());
    let found = match searched(&session, format!("part {}", number + 1), search).await {
        Ok(found) => found,
        Err(Missed { problem, .. }) => {
            return Ok(AnsweredPart { trace, problem: Some(problem), ..AnsweredPart::default() });
        }
    };
    let Relevant { hits, kept, by, .. } = judged(&session, &text, number, &found, how.judged).await?;
    let answers = read(&session, (number, &text), &found, &hits, &kept).await?;
    Ok(AnsweredPart {
        trace: SubQuestionTrace {
            asked: vec![text.clone()],
            text: text.clone(),
            answers,
            found: hits.iter().map(|hit| hit.passage).take(PART_PASSAGES_SHOWN).collect(),
        },
        list: Some(RankedList { form: 0, is_guessed: how.is_guessed, question: text, hits }),
        relevant: if by == AnsweredBy::Model { kept } else { Vec::new() },
        problem: None,
    })
}

/// Reads the answer to a part from the relevant passages: with the model, or else by rule.
async fn read(
    session: &Session,
    (number, text): (u32, &str),
    found: &Found,
    hits: &[Hit],
    kept: &[PassageId],
) -> Result<Vec<SubAnswer>> {
    let relevant: Vec<Hit> =
        hits.iter().filter(|hit| kept.contains(&hit.passage)).take(READ_PASSAGES).cloned().collect();
    if !relevant.is_empty() && session.may_call() {
        let passages = found_passages(&relevant, READ_PASSAGES);
        let task = ReadTask { question: text.to_owned(), part: number, passages };
        // That no passage answers is an answer too.
        if let Some(answers) = session.perform::<ReadSkill>(&task).await? {
            return Ok(answers);
        }
    }
    match &found.ranking {
        Some(ranking) => {
            let kept = kept.to_vec();
            ranking.on_cpu(move |ranking| guesses(ranking, |passage| kept.contains(passage))).await
        }
        None => Ok(Vec::new()),
    }
}
