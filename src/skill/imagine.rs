//! `imagine`: a passage that could answer a question, whose vector is compared with those of real ones: `LevelRAG`'s
//! dense searcher. It is used for the search and never read. Without a model, there is none.

use serde::Deserialize;

use super::lenient;
use super::model::Skill;
use super::pick::FoundPassage;
use crate::domain::PassageId;
use crate::llm::prompt::{self, IMAGINE};
use crate::llm::{Message, Purpose};
use crate::text::{one_line, tokens};

/// Characters of an imagined passage at most: the rest is cut.
const IMAGINED_CHARS_MAX: usize = 1_000;

/// A question for which nothing was found, or not what answers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImagineTask {
    /// The question.
    pub question: String,
    /// Which passage it is, from 0.
    pub number: u32,
    /// Passages that were found and do not answer it.
    pub passages: Vec<FoundPassage>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct ImagineReply {
    #[serde(deserialize_with = "lenient::text")]
    passage: String,
}

/// The skill.
#[derive(Debug, Clone, Copy)]
pub struct ImagineSkill;

impl Skill for ImagineSkill {
    type Input = ImagineTask;
    type Reply = ImagineReply;
    type Output = String;

    const NAME: &'static str = "imagine";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/imagine.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 384;

    fn messages(task: &ImagineTask) -> Vec<Message> {
        let passages = task.passages.iter().zip(1..).map(|(passage, number)| passage.block(number));
        let passages = passages.collect::<Vec<_>>().join("\n\n");
        let passages = if passages.is_empty() { "Nothing was found.".to_owned() } else { passages };
        let question = one_line(&task.question);
        let mark = prompt::mark(&[&question, &passages]);
        let places = [("mark", mark.as_str()), ("question", question.as_str()), ("passages", passages.as_str())];
        prompt::messages(IMAGINE, &places)
    }

    fn shown(task: &ImagineTask) -> Vec<PassageId> {
        task.passages.iter().map(|passage| passage.passage).collect()
    }

    fn step(task: &ImagineTask) -> u32 {
        task.number
    }

    fn check(_: &ImagineTask, reply: ImagineReply) -> Result<String, String> {
        let text: String = one_line(&reply.passage).chars().take(IMAGINED_CHARS_MAX).collect();
        if tokens(&text).is_empty() { Err("the passage says nothing".to_owned()) } else { Ok(text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_imagined_passage_says_something_and_is_short() {
        let task = ImagineTask { question: "Who?".to_owned(), number: 0, passages: Vec::new() };
        let check = |passage: &str| ImagineSkill::check(&task, ImagineReply { passage: passage.to_owned() });
        assert_eq!(check("It was\nbuilt.").unwrap(), "It was built.");
        assert_eq!(check(&"a".repeat(5_000)).unwrap().len(), IMAGINED_CHARS_MAX);
        assert!(check(" … ").is_err());
        assert!(ImagineSkill::messages(&task)[1].text.contains("Nothing was found."));
    }
}
