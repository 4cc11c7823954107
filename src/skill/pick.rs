//! `pick`: which of the passages found a question needs, in one call. Without a model, the order of the search stands.

use serde::Deserialize;

use super::answer::place;
use super::lenient;
use super::model::Skill;
use crate::domain::PassageId;
use crate::llm::prompt::{self, PICK};
use crate::llm::{Message, Purpose};
use crate::text::one_line;

/// Passages that are picked at most.
pub const PICKS_MAX: usize = 5;

/// A question, and the passages found for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickTask {
    /// The question.
    pub question: String,
    /// The passages, best first.
    pub passages: Vec<FoundPassage>,
}

/// A passage as a search found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPassage {
    /// Its identity, which is not shown to the model.
    pub passage: PassageId,
    /// What its document is called.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The last step that led to it, if any.
    pub reached_by: Option<StepTaken>,
}

/// A step that led to a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepTaken {
    /// The name of the document that it left, if known.
    pub from: Option<String>,
    /// The question that it followed.
    pub question: String,
}

impl FoundPassage {
    /// Returns it as a prompt shows it under a number.
    pub(super) fn block(&self, number: usize) -> String {
        let way = self.reached_by.as_ref().map(|StepTaken { from, question }| {
            let from = from.as_deref().map(|from| format!(" from {}", one_line(from))).unwrap_or_default();
            format!("(come to{from} by: {})\n", one_line(question))
        });
        format!("[{number}] {}\n{}{}", one_line(&self.name), way.unwrap_or_default(), self.text.trim())
    }
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct PickReply {
    #[serde(deserialize_with = "lenient::numbers")]
    passages: Vec<i64>,
}

/// The skill. It gives places of passages in the task, from 0, the most needed first.
#[derive(Debug, Clone, Copy)]
pub struct PickSkill;

impl Skill for PickSkill {
    type Input = PickTask;
    type Reply = PickReply;
    type Output = Vec<usize>;

    const NAME: &'static str = "pick";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/pick.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 256;

    fn messages(task: &PickTask) -> Vec<Message> {
        let passages = task.passages.iter().zip(1..).map(|(passage, number)| passage.block(number));
        let passages = passages.collect::<Vec<_>>().join("\n\n");
        let question = one_line(&task.question);
        let mark = prompt::mark(&[&question, &passages]);
        let places = [
            ("mark", mark.as_str()),
            ("question", question.as_str()),
            ("passages", passages.as_str()),
            ("picks_max", &PICKS_MAX.to_string()),
        ];
        prompt::messages(PICK, &places)
    }

    fn shown(task: &PickTask) -> Vec<PassageId> {
        task.passages.iter().map(|passage| passage.passage).collect()
    }

    fn check(task: &PickTask, reply: PickReply) -> Result<Vec<usize>, String> {
        let count = task.passages.len();
        let mut picked = Vec::new();
        for place in reply.passages.iter().filter_map(|number| place(*number, count)) {
            if !picked.contains(&place) {
                picked.push(place);
            }
        }
        if let Some(number) = reply.passages.first().filter(|_| picked.is_empty()) {
            return Err(format!("it picks passage {number}; there are 1 to {count}"));
        }
        // The most needed come first.
        picked.truncate(PICKS_MAX);
        Ok(picked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> PickTask {
        let passage = |name: &str, reached_by: Option<StepTaken>| FoundPassage {
            passage: PassageId::of(&[name.as_bytes()]),
            name: name.to_owned(),
            text: format!(" {name} was built.\n"),
            reached_by,
        };
        let step = |from: Option<&str>, question: &str| {
            Some(StepTaken { from: from.map(str::to_owned), question: question.to_owned() })
        };
        let passages = vec![
            passage("Harl\nMill", None),
            passage("Ada Lorne", step(Some("Harl\nMill"), "Who is\nAda Lorne?")),
            passage("Eaststead", step(None, "What is Eaststead?")),
        ];
        PickTask { question: "Who built\nHarl Mill?".to_owned(), passages }
    }

    #[test]
    fn a_model_sees_each_passage_with_the_step_that_led_to_it() {
        let messages = PickSkill::messages(&task());
        let [system, user] = &messages[..] else { panic!("two messages") };
        assert!(system.text.contains("5 at most"), "{system:?}");
        let expect = "[1] Harl Mill\nHarl\nMill was built.\n\n[2] Ada Lorne\n\
                      (come to from Harl Mill by: Who is Ada Lorne?)\nAda Lorne was built.\n\n[3] Eaststead\n\
                      (come to by: What is Eaststead?)\n";
        assert!(user.text.contains(expect), "{user:?}");
        assert!(user.text.contains("===\nQuestion: Who built Harl Mill?\n==="), "{user:?}");
    }

    #[test]
    fn picks_are_of_what_was_shown_each_once_and_few() {
        let check = |passages: &[i64]| PickSkill::check(&task(), PickReply { passages: passages.into() });
        assert_eq!(check(&[2, 1, 2]), Ok(vec![1, 0]));
        assert_eq!(check(&[]), Ok(vec![]));
        for wrong in [0, 4, -1, i64::MAX] {
            assert_eq!(check(&[wrong]), Err(format!("it picks passage {wrong}; there are 1 to 3")));
        }
        let many = PickTask { passages: vec![task().passages[0].clone(); 20], ..task() };
        let all = PickReply { passages: (1..=20).collect() };
        assert_eq!(PickSkill::check(&many, all), Ok((0..PICKS_MAX).collect()));
        assert_eq!(check(&[2, 9]), Ok(vec![1]));
    }
}
