//! A judge of a given accuracy in the place of a language model: what a model that is right so often would add, were
//! its errors independent. It knows the labels; what it says goes through prompt, schema and check like any model's
//! reply.

use rustc_hash::FxHashSet;
use serde_json::json;

use super::questions::Question;
use crate::domain::{Hit, Usage};
use crate::error::{Error, Result};
use crate::llm::{ChatModel, ChatReply, ChatRequest, Finish, ReplyOrigin, Replying};

/// A judge that picks each supporting document among those shown with a probability, and in as many of all questions as
/// it misses one, picks a passage that supports nothing. What it picks stays in the order of the search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SimulatedPick {
    /// The probability, from 0 to 1.
    pub accuracy: f64,
    /// What its errors are drawn from: the same seed errs the same way.
    pub seed: u64,
}

impl SimulatedPick {
    /// Checks the accuracy.
    ///
    /// # Errors
    ///
    /// [`Error::Option`] for one outside 0 to 1.
    pub fn check(self) -> Result<Self> {
        if (0.0..=1.0).contains(&self.accuracy) {
            return Ok(self);
        }
        let (value, reason) = (self.accuracy.to_string(), "it lies between 0 and 1".to_owned());
        Err(Error::Option { option: "simulate-pick", value, reason })
    }

    /// Returns the model that judges what was shown for one question.
    pub(super) fn judging(self, question: &Question, shown: &[Hit]) -> SimulatedModel {
        let mut supporting = FxHashSet::default();
        let mut is_right = vec![false; shown.len()];
        for (hit, is_right) in shown.iter().zip(&mut is_right) {
            *is_right = question.supporting.contains(&hit.source_id) && supporting.insert(&hit.source_id);
        }
        let is_wrong = !self.is_lucky(&question.id, "false pick");
        let others: Vec<usize> = (0..shown.len()).filter(|place| !is_right[*place]).collect();
        let other = self.drawn(&question.id, "which") % others.len().max(1) as u64;
        let other = others.get(other as usize).copied().filter(|_| is_wrong);
        let is_picked = |place: &usize| {
            other == Some(*place) || is_right[*place] && self.is_lucky(&question.id, &place.to_string())
        };
        let picked: Vec<usize> = (0..shown.len()).filter(is_picked).map(|place| place + 1).collect();
        SimulatedModel {
            name: format!("simulated:{}", self.accuracy),
            reply: json!({ "passages": picked }).to_string(),
        }
    }

    /// Returns whether a draw is right, as the accuracy has it.
    fn is_lucky(self, question: &str, what: &str) -> bool {
        (self.drawn(question, what) as f64) / (u64::MAX as f64) < self.accuracy
    }

    fn drawn(self, question: &str, what: &str) -> u64 {
        let parts = format!("{} {question} {what}", self.seed);
        let hash = *blake3::hash(parts.as_bytes()).as_bytes();
        u64::from_le_bytes([hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7]])
    }
}

/// A model that says one thing.
pub(super) struct SimulatedModel {
    name: String,
    reply: String,
}

impl ChatModel for SimulatedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply<'a>(&'a self, _request: &'a ChatRequest) -> Replying<'a> {
        let (text, model) = (self.reply.clone(), self.name.clone());
        let usage = Usage::default();
        let reply = ChatReply { text, finish: Finish::Stop, usage, model, origin: ReplyOrigin::Server, cost: None };
        Box::pin(async move { Ok(reply) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{DocumentId, Metadata, PassageId, Span};

    fn hit(number: usize) -> Hit {
        let source_id = format!("d{number}");
        Hit {
            rank: number as u32,
            passage: PassageId::of(&[source_id.as_bytes()]),
            document: DocumentId::of(&[source_id.as_bytes()]),
            name: source_id.clone(),
            uri: source_id.clone(),
            source_id,
            section: None,
            span: Span { start: 0, end: 0 },
            text: String::new(),
            score: 0.0,
            metadata: Metadata::new(),
            path: Vec::new(),
        }
    }

    #[test]
    fn a_judge_is_right_as_often_as_it_is_said_to_be_and_wrong_as_often_as_it_is_not() {
        let shown: Vec<Hit> = (0..20).map(hit).collect();
        for accuracy in [0.0, 0.8, 1.0] {
            let (mut right, mut wrong) = (0, 0);
            for number in 0..1_000 {
                let question = Question {
                    id: number.to_string(),
                    question: "Who?".to_owned(),
                    supporting: ["d3", "d7"].map(str::to_owned).into(),
                    kind: None,
                    hops: None,
                    answers: Vec::new(),
                };
                let model = SimulatedPick { accuracy, seed: 1 }.judging(&question, &shown);
                let reply: serde_json::Value = serde_json::from_str(&model.reply).unwrap();
                let picked: Vec<u64> =
                    reply["passages"].as_array().unwrap().iter().filter_map(serde_json::Value::as_u64).collect();
                assert!(picked.is_sorted());
                let own = picked.iter().filter(|it| [4, 8].contains(*it)).count();
                right += own;
                wrong += picked.len() - own;
            }
            let (right, wrong) = (right as f64 / 2_000.0, wrong as f64 / 1_000.0);
            assert!((right - accuracy).abs() < 0.03, "{right} of {accuracy}");
            assert!((wrong + accuracy - 1.0).abs() < 0.03, "{wrong} of {accuracy}");
        }
        assert!(SimulatedPick { accuracy: 1.5, seed: 1 }.check().is_err());
    }
}
