//! `enough`: whether the results suffice for the answer, and what is missing: `HANRAG`'s discriminator of endings,
//! `LevelRAG`'s verification. Without a model, only the number of rounds ends a search.

use serde::Deserialize;

use super::lenient;
use super::model::Skill;
use super::steps::{AnsweredStep, block};
use crate::llm::prompt::{self, ENOUGH};
use crate::llm::{Message, Purpose};
use crate::text::{one_line, tokens};

/// Maximum number of missing pieces.
pub const MISSING_MAX: usize = 4;
/// Maximum characters of a missing piece.
const MISSING_CHARS_MAX: usize = 300;

/// A question, and the results so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnoughTask {
    /// The question.
    pub question: String,
    /// The results so far, in order.
    pub steps: Vec<AnsweredStep>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct EnoughReply {
    #[serde(default, deserialize_with = "lenient::texts")]
    missing: Vec<String>,
    #[serde(deserialize_with = "lenient::flag")]
    enough: Option<bool>,
}

/// Whether the results suffice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sufficiency {
    /// Whether it does.
    pub is_enough: bool,
    /// What is missing, in a few words each.
    pub missing: Vec<String>,
}

/// The skill.
#[derive(Debug, Clone, Copy)]
pub struct EnoughSkill;

impl Skill for EnoughSkill {
    type Input = EnoughTask;
    type Reply = EnoughReply;
    type Output = Sufficiency;

    const NAME: &'static str = "enough";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/enough.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 256;

    fn messages(task: &EnoughTask) -> Vec<Message> {
        let (question, steps) = (one_line(&task.question), block(&task.steps));
        let mark = prompt::mark(&[&question, &steps]);
        let places = [
            ("mark", mark.as_str()),
            ("question", question.as_str()),
            ("steps", steps.as_str()),
            ("missing_max", &MISSING_MAX.to_string()),
        ];
        prompt::messages(ENOUGH, &places)
    }

    fn step(task: &EnoughTask) -> u32 {
        task.steps.len() as u32
    }

    fn check(task: &EnoughTask, reply: EnoughReply) -> Result<Sufficiency, String> {
        let is_enough = reply.enough.ok_or_else(|| "`enough` is neither true nor false".to_owned())?;
        if is_enough && task.steps.iter().all(|step| step.answer.is_none()) {
            return Err("`enough` is true, and nothing was found".to_owned());
        }
        let said = reply.missing.iter().map(|it| one_line(it));
        let is_kept = |it: &String| !tokens(it).is_empty() && it.chars().count() <= MISSING_CHARS_MAX;
        let missing = if is_enough { Vec::new() } else { said.filter(is_kept).take(MISSING_MAX).collect() };
        Ok(Sufficiency { is_enough, missing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(enough: Option<bool>, missing: &[&str], answer: Option<&str>) -> Result<Sufficiency, String> {
        let steps = vec![AnsweredStep { question: "Who built it?".to_owned(), answer: answer.map(str::to_owned) }];
        let missing = missing.iter().map(|it| (*it).to_owned()).collect();
        EnoughSkill::check(&EnoughTask { question: "When?".to_owned(), steps }, EnoughReply { missing, enough })
    }

    #[test]
    fn nothing_is_never_enough_and_few_things_are_missing() {
        assert!(checked(Some(true), &["a"], Some("Ada")).unwrap().missing.is_empty());
        assert_eq!(checked(Some(true), &[], None), Err("`enough` is true, and nothing was found".to_owned()));
        assert!(checked(None, &[], Some("Ada")).is_err());
        let long = "a ".repeat(MISSING_CHARS_MAX);
        let said = checked(Some(false), &["when\nshe lived", "?", &long, "b", "c", "d", "e"], Some("Ada")).unwrap();
        assert_eq!(said.missing, ["when she lived", "b", "c", "d"]);
    }
}
