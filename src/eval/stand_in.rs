//! Stand-ins for a language model, to produce figures without one. Their replies go through prompt, schema and check
//! like any model's.
//!
//! Recorded replies of a real model are replayed: parts of a question, and the entities that it names. If an accuracy
//! is given, a judge that knows the labels does the rest, with independent errors, unlike a real model's:
//!
//! - `pick`: each supporting passage that is shown is picked with probability P; in a share 1 − P of questions, a wrong
//!   one is picked too. Picks keep the order of the search.
//! - `judge`: a verdict on each passage, right with probability P.
//! - `choose`: if one of the steps leads to a supporting passage, that one with probability P, else another or none.
//! - `read`: the recorded answer with probability P if a passage shown contains it, else the first other name.
//! - `route`: the route that follows from the recorded parts, with probability P; else another route.
//! - `seed`, `reason`, `seek`, `supplement`: the next recorded part, with the answers to earlier ones that are known.
//! - `enough`: with probability P, whether every part was asked; else the opposite.
//! - `digest`: the recorded answer with probability P if a passage shown contains it; else nothing.
//!
//! It declines everything else, so that rules take over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::planned::{Planning, planned};
use super::questions::Question;
use super::recorded::{Recorded, RecordedReplies};
use crate::domain::{ChatError, PassageId, Usage};
use crate::error::{Error, Result};
use crate::llm::{ChatModel, ChatReply, ChatRequest, Finish, ReplyForm, ReplyOrigin, Replying};
use crate::query::QueryEngine;
use crate::text::{capitalized_runs, tokens};

/// See the top of this file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StandIn {
    /// How often a verdict is right, from 0 to 1; none where nothing is judged.
    pub accuracy: Option<f64>,
    /// What its errors are drawn from: the same seed errs the same way.
    pub seed: u64,
    /// What was recorded of real models.
    pub recorded: RecordedReplies,
}

impl StandIn {
    /// Checks the accuracy.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for one outside 0 to 1.
    pub fn check(self) -> Result<Self> {
        match self.accuracy {
            Some(accuracy) if !(0.0..=1.0).contains(&accuracy) => Err(Error::Option {
                option: "simulate",
                value: accuracy.to_string(),
                reason: "it must be between 0 and 1".to_owned(),
            }),
            _ => Ok(self),
        }
    }

    /// Returns the note on it for a report.
    pub(super) fn note(&self) -> String {
        let said = if self.recorded.is_empty() { "" } else { "recorded replies are replayed; " };
        match self.accuracy {
            Some(accuracy) => format!(
                "no model was asked: {said}a judge that knows the labels is right with probability {accuracy}, seed \
                 {}, errors independent",
                self.seed
            ),
            None => format!("no model was asked: {said}rules do the rest"),
        }
    }

    /// Returns the simulated model for one question.
    pub(super) fn model(&self, question: &Question, engine: &QueryEngine) -> Arc<dyn ChatModel> {
        Arc::new(StandInModel {
            name: self.accuracy.map_or_else(|| "recorded".to_owned(), |accuracy| format!("simulated:{accuracy}")),
            draw: self.accuracy.map(|accuracy| Draw { accuracy, seed: self.seed, question: question.id.clone() }),
            supporting: question.supporting.iter().cloned().collect(),
            recorded: self.recorded.get(&question.id).cloned().unwrap_or_default(),
            engine: engine.clone(),
        })
    }
}

/// The random draws of one question.
pub(super) struct Draw {
    pub(super) accuracy: f64,
    pub(super) seed: u64,
    pub(super) question: String,
}

impl Draw {
    /// Returns whether a verdict is right, drawn by the accuracy.
    pub(super) fn is_right(&self, what: &str) -> bool {
        (self.number(what) as f64) / (u64::MAX as f64) < self.accuracy
    }

    pub(super) fn number(&self, what: &str) -> u64 {
        let parts = format!("{} {} {what}", self.seed, self.question);
        let hash = *blake3::hash(parts.as_bytes()).as_bytes();
        u64::from_le_bytes([hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7]])
    }
}

struct StandInModel {
    name: String,
    draw: Option<Draw>,
    supporting: BTreeSet<String>,
    recorded: Recorded,
    engine: QueryEngine,
}

impl StandInModel {
    async fn simulated(&self, request: &ChatRequest) -> Result<Option<Value>> {
        let ReplyForm::Json { name, .. } = &request.form else { return Ok(None) };
        match (*name, &self.draw) {
            ("decompose", _) if !self.recorded.parts.is_empty() => {
                let parts: Vec<&str> = self.recorded.parts.iter().map(|part| part.question.as_str()).collect();
                Ok(Some(json!({ "parts": parts })))
            }
            ("entities", _) if !self.recorded.entities.is_empty() => {
                Ok(Some(json!({ "entities": self.recorded.entities })))
            }
            ("pick", Some(draw)) => Ok(Some(picked(draw, &self.labels(&request.shown).await?))),
            ("judge", Some(draw)) => Ok(Some(judged(draw, &request.shown, &self.labels(&request.shown).await?))),
            ("choose", Some(draw)) => Ok(Some(chosen(draw, &request.shown, &self.labels(&request.shown).await?))),
            ("read", Some(draw)) => Ok(self.read(draw, request)),
            (skill, Some(draw)) if !self.recorded.parts.is_empty() => {
                Ok(planned(skill, &Planning { draw, parts: &self.recorded.parts, request }))
            }
            _ => Ok(None),
        }
    }

    /// Returns whether each passage supports the answer; of each document, only the first passage shown does.
    async fn labels(&self, shown: &[PassageId]) -> Result<Vec<bool>> {
        let documents = self.engine.documents(&shown.iter().copied().collect()).await?;
        let sources: BTreeMap<PassageId, String> =
            documents.into_iter().map(|(passage, document)| (passage, document.source_id)).collect();
        let mut seen = BTreeSet::new();
        let is_right = |passage: &PassageId| {
            sources.get(passage).is_some_and(|source| self.supporting.contains(source) && seen.insert(source))
        };
        Ok(shown.iter().map(is_right).collect())
    }

    fn read(&self, draw: &Draw, request: &ChatRequest) -> Option<Value> {
        let part = request.step as usize;
        let right = &self.recorded.parts.get(part)?.answer;
        let prompt = &request.messages.last()?.text;
        let blocks: Vec<&str> = (1..=request.shown.len()).filter_map(|number| block(prompt, number)).collect();
        let words = tokens(right);
        let has = |text: &&str| !words.is_empty() && tokens(text).windows(words.len()).any(|window| window == words);
        let place = blocks.iter().position(has);
        let answer = |text: &str, place: usize| json!({ "answers": [{ "text": text, "passage": place + 1 }] });
        if draw.is_right(&format!("read {part}")) {
            return Some(place.map_or_else(|| json!({ "answers": [] }), |place| answer(right, place)));
        }
        let first = blocks.first()?;
        let question = tokens(prompt.lines().nth(1)?).join(" ");
        let is_other = |key: &str| !question.contains(key) && key != words.join(" ");
        let runs = capitalized_runs(first, &|_| false);
        let other = runs.iter().find(|run| is_other(&run.key)).and_then(|run| first.get(run.start..run.end));
        Some(other.map_or_else(|| json!({ "answers": [] }), |text| answer(text, 0)))
    }
}

/// Returns the block that is shown under a number.
pub(super) fn block(prompt: &str, number: usize) -> Option<&str> {
    let start = prompt.find(&format!("\n[{number}] "))? + 1;
    let rest = prompt.get(start..)?;
    let end =
        rest.find(&format!("\n[{}] ", number + 1)).or_else(|| rest.find(&format!("\n{}", prompt.lines().next()?)))?;
    rest.get(..end)?.split_once("] ").map(|(_, text)| text)
}

fn picked(draw: &Draw, is_right: &[bool]) -> Value {
    let others: Vec<usize> = (0..is_right.len()).filter(|place| !is_right[*place]).collect();
    let other = draw.number("which") % others.len().max(1) as u64;
    let other = others.get(other as usize).copied().filter(|_| !draw.is_right("false pick"));
    let is_picked = |place: &usize| other == Some(*place) || is_right[*place] && draw.is_right(&place.to_string());
    let picked: Vec<usize> = (0..is_right.len()).filter(is_picked).map(|place| place + 1).collect();
    json!({ "passages": picked })
}

/// Returns verdicts; the same passage always gets the same one.
fn judged(draw: &Draw, shown: &[PassageId], is_right: &[bool]) -> Value {
    let helps = |place: &usize| is_right[*place] == draw.is_right(&format!("judge {}", shown[*place]));
    let necessary: Vec<usize> = (0..is_right.len()).filter(helps).map(|place| place + 1).collect();
    json!({ "necessary": necessary, "related": [] })
}

fn chosen(draw: &Draw, shown: &[PassageId], is_right: &[bool]) -> Value {
    let what = shown.first().map_or_else(String::new, |first| format!("choose {first}"));
    let right = is_right.iter().position(|it| *it);
    if draw.is_right(&what) {
        return json!({ "step": right.map(|place| place + 1) });
    }
    // A wrong choice: any step if none is right, or else another one or none.
    let others: Vec<usize> = (0..shown.len()).filter(|place| Some(*place) != right).collect();
    let other = draw.number(&format!("{what} which")) as usize % (others.len() + usize::from(right.is_some())).max(1);
    json!({ "step": others.get(other).map(|place| place + 1) })
}

impl ChatModel for StandInModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply<'a>(&'a self, request: &'a ChatRequest) -> Replying<'a> {
        Box::pin(async move {
            let refused = |said: String| ChatError::Refused { message: said };
            let said = self.simulated(request).await.map_err(|error| refused(error.to_string()))?;
            let text = said.ok_or_else(|| refused("nothing stands in for it".to_owned()))?.to_string();
            let (usage, model) = (Usage::default(), self.name.clone());
            Ok(ChatReply {
                text,
                finish: Finish::Stop,
                usage,
                model,
                origin: ReplyOrigin::Server,
                calls: 1,
                cost: None,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(accuracy: f64, question: usize) -> Draw {
        Draw { accuracy, seed: 1, question: question.to_string() }
    }

    fn numbers(value: &Value) -> Vec<u64> {
        value.as_array().unwrap().iter().filter_map(Value::as_u64).collect()
    }

    #[test]
    fn picks_are_right_as_often_as_is_said_and_wrong_as_often_as_not() {
        let is_right: Vec<bool> = (0..20).map(|place| place == 3 || place == 7).collect();
        for accuracy in [0.0, 0.8, 1.0] {
            let (mut right, mut wrong) = (0, 0);
            for question in 0..1_000 {
                let picked = numbers(&picked(&draw(accuracy, question), &is_right)["passages"]);
                assert!(picked.is_sorted());
                let own = picked.iter().filter(|it| [4, 8].contains(*it)).count();
                right += own;
                wrong += picked.len() - own;
            }
            let (right, wrong) = (right as f64 / 2_000.0, wrong as f64 / 1_000.0);
            assert!((right - accuracy).abs() < 0.03, "{right} of {accuracy}");
            assert!((wrong + accuracy - 1.0).abs() < 0.03, "{wrong} of {accuracy}");
        }
        assert!(StandIn { accuracy: Some(1.5), ..StandIn::default() }.check().is_err());
    }

    #[test]
    fn verdicts_and_choices_are_right_as_often_as_is_said() {
        let shown: Vec<PassageId> = (0..4).map(|place: u8| PassageId::of(&[&[place]])).collect();
        let is_right = [false, true, false, false];
        let (mut verdicts, mut choices) = (0, 0);
        for question in 0..1_000 {
            let draw = draw(0.8, question);
            let necessary = numbers(&judged(&draw, &shown, &is_right)["necessary"]);
            verdicts += (0..4).filter(|place| necessary.contains(&(place + 1)) == is_right[*place as usize]).count();
            choices += usize::from(chosen(&draw, &shown, &is_right)["step"] == 2);
        }
        let (verdicts, choices) = (verdicts as f64 / 4_000.0, choices as f64 / 1_000.0);
        assert!((verdicts - 0.8).abs() < 0.03 && (choices - 0.8).abs() < 0.04, "{verdicts} {choices}");
    }

    #[test]
    fn a_passage_is_found_under_its_number() {
        let shown = "[1] Harl Mill\nBuilt by Ada.\n\n[2] Ada\nBorn.";
        let (mark, question) = ("=== a ===", "Question: Who?");
        let said = &format!("{mark}\n{question}\n{mark}\n{shown}\n{mark}\n{question}\n{mark}");
        assert_eq!(block(said, 1), Some("Harl Mill\nBuilt by Ada.\n"));
        assert_eq!(block(said, 2), Some("Ada\nBorn."));
        assert_eq!(block(said, 3), None);
    }
}
