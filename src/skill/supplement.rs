//! `supplement`: whether the steps of a search suffice, and what else to look up: `LevelRAG`'s verification and
//! supplement, in one call. Without a model, nothing is supplemented.

use serde::Deserialize;

use super::lenient;
use super::model::Skill;
use super::steps::{AnsweredStep, block};
use crate::llm::prompt::{self, SUPPLEMENT};
use crate::llm::{Message, Purpose};
use crate::text::{one_line, tokens};

/// Questions that are looked up next at most.
pub const SUPPLEMENTS_MAX: usize = 4;
/// Characters of such a question at most.
const QUESTION_CHARS_MAX: usize = 500;

/// A question, and the look-ups for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupplementTask {
    /// The question.
    pub question: String,
    /// The round, from 0.
    pub round: u32,
    /// The look-ups so far, in order.
    pub steps: Vec<AnsweredStep>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct SupplementReply {
    #[serde(default, deserialize_with = "lenient::texts")]
    questions: Vec<String>,
    #[serde(deserialize_with = "lenient::flag")]
    enough: Option<bool>,
}

/// The skill. It gives the questions to look up next; none if the results suffice.
#[derive(Debug, Clone, Copy)]
pub struct SupplementSkill;

impl Skill for SupplementSkill {
    type Input = SupplementTask;
    type Reply = SupplementReply;
    type Output = Vec<String>;

    const NAME: &'static str = "supplement";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/supplement.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 512;

    fn messages(task: &SupplementTask) -> Vec<Message> {
        let (question, steps) = (one_line(&task.question), block(&task.steps));
        let mark = prompt::mark(&[&question, &steps]);
        let places = [
            ("mark", mark.as_str()),
            ("question", question.as_str()),
            ("steps", steps.as_str()),
            ("questions_max", &SUPPLEMENTS_MAX.to_string()),
        ];
        prompt::messages(SUPPLEMENT, &places)
    }

    fn step(task: &SupplementTask) -> u32 {
        task.round
    }

    fn check(task: &SupplementTask, reply: SupplementReply) -> Result<Vec<String>, String> {
        let is_enough = reply.enough.ok_or_else(|| "`enough` is neither true nor false".to_owned())?;
        if is_enough && task.steps.iter().all(|step| step.answer.is_none()) {
            return Err("`enough` is true, and nothing was found".to_owned());
        }
        if is_enough {
            return Ok(Vec::new());
        }
        let said = reply.questions.iter().map(|it| one_line(it));
        let is_kept = |it: &String| !tokens(it).is_empty() && it.chars().count() <= QUESTION_CHARS_MAX;
        let questions: Vec<String> = said.filter(is_kept).take(SUPPLEMENTS_MAX).collect();
        // A reply that asks nothing and does not say that it is enough says nothing.
        if questions.is_empty() { Err("`enough` is false, and there is no question".to_owned()) } else { Ok(questions) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_it_is_enough_or_there_is_something_to_ask() {
        let check = |enough: Option<bool>, questions: &[&str], answer: Option<&str>| {
            let steps = vec![AnsweredStep { question: "Who?".to_owned(), answer: answer.map(str::to_owned) }];
            let task = SupplementTask { question: "When?".to_owned(), round: 1, steps };
            let questions = questions.iter().map(|it| (*it).to_owned()).collect();
            SupplementSkill::check(&task, SupplementReply { questions, enough })
        };
        assert_eq!(check(Some(true), &["Who?"], Some("Ada")), Ok(Vec::new()));
        assert_eq!(
            check(Some(false), &["Who\nis she?", "?", "b", "c", "d", "e"], None).unwrap().len(),
            SUPPLEMENTS_MAX
        );
        for (enough, questions, answer) in
            [(Some(true), &[][..], None), (Some(false), &["?!"], Some("Ada")), (None, &["Who?"], Some("Ada"))]
        {
            assert!(check(enough, questions, answer).is_err(), "{enough:?} {questions:?}");
        }
    }
}
