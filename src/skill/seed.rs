//! `seed`: the next sub-question to answer: `HANRAG`'s refiner of seed questions. Without a model, there is none after
//! the question itself.

use serde::Deserialize;
use serde_json::Value;

use super::model::Skill;
use super::steps::{AnsweredStep, block};
use crate::llm::prompt::{self, SEED};
use crate::llm::{Message, Purpose};
use crate::text::{one_line, tokens};

/// Characters of a sub-question at most.
const SEED_CHARS_MAX: usize = 500;

/// A question, and the look-ups for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedTask {
    /// The question.
    pub question: String,
    /// The look-ups so far, in order.
    pub steps: Vec<AnsweredStep>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct SeedReply {
    // It has to be there: a reply without it says nothing.
    next: Value,
}

/// The skill. It gives the next question, or none where nothing is left to be looked up.
#[derive(Debug, Clone, Copy)]
pub struct SeedSkill;

impl Skill for SeedSkill {
    type Input = SeedTask;
    type Reply = SeedReply;
    type Output = Option<String>;

    const NAME: &'static str = "seed";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/seed.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 256;

    fn messages(task: &SeedTask) -> Vec<Message> {
        let (question, steps) = (one_line(&task.question), block(&task.steps));
        let mark = prompt::mark(&[&question, &steps]);
        let places = [("mark", mark.as_str()), ("question", question.as_str()), ("steps", steps.as_str())];
        prompt::messages(SEED, &places)
    }

    fn step(task: &SeedTask) -> u32 {
        task.steps.len() as u32
    }

    fn check(task: &SeedTask, reply: SeedReply) -> Result<Option<String>, String> {
        let next = match reply.next {
            Value::String(next) => one_line(&next),
            Value::Null => String::new(),
            other => return Err(format!("`next` is `{other}`, and neither a question nor null")),
        };
        if matches!(next.to_lowercase().as_str(), "" | "null" | "none") {
            // At first there is always something to look up.
            return if task.steps.is_empty() { Err("nothing was looked up yet".to_owned()) } else { Ok(None) };
        }
        if tokens(&next).is_empty() {
            return Err("`next` asks nothing".to_owned());
        }
        if next.chars().count() > SEED_CHARS_MAX {
            return Err(format!("`next` has more than {SEED_CHARS_MAX} characters"));
        }
        Ok(Some(next))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn task(steps: &[(&str, Option<&str>)]) -> SeedTask {
        let step = |(question, answer): &(&str, Option<&str>)| AnsweredStep {
            question: (*question).to_owned(),
            answer: answer.map(str::to_owned),
        };
        SeedTask { question: "When was its\nbuilder born?".to_owned(), steps: steps.iter().map(step).collect() }
    }

    #[test]
    fn steps_are_shown_with_what_was_found() {
        let messages = SeedSkill::messages(&task(&[("Who built\nit?", Some("Ada\nLorne")), ("Who is she?", None)]));
        let expect = "1. Who built it?\nAnswer: Ada Lorne\n2. Who is she?\nAnswer: nothing was found\n===";
        assert!(messages[1].text.contains(expect), "{messages:?}");
        assert!(SeedSkill::messages(&task(&[]))[1].text.contains("Nothing was looked up yet."));
        assert_eq!(SeedSkill::step(&task(&[("Who?", None)])), 1);
    }

    #[test]
    fn the_next_question_asks_something_and_ends_only_after_a_step() {
        let check = |next: Value, steps: &[(&str, Option<&str>)]| SeedSkill::check(&task(steps), SeedReply { next });
        let after = [("Who built it?", None)];
        assert_eq!(check(json!(" When was\nAda born? "), &after), Ok(Some("When was Ada born?".to_owned())));
        for nothing in [json!(null), json!(""), json!("none"), json!("null")] {
            assert_eq!(check(nothing.clone(), &after), Ok(None));
            assert_eq!(check(nothing, &[]), Err("nothing was looked up yet".to_owned()));
        }
        for wrong in [json!("?!"), json!("who ".repeat(200)), json!(7), json!(["Who?"])] {
            assert!(check(wrong.clone(), &after).is_err(), "{wrong}");
        }
        assert!(serde_json::from_value::<SeedReply>(json!({})).is_err(), "it says nothing");
    }
}
