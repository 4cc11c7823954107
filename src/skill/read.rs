//! `read`: short answers to a part of a question, read from the passages found for it. An answer counts only if it
//! occurs in the passage that it cites, so nothing comes from a model's memory.

use serde::Deserialize;

use super::answer::place;
use super::lenient;
use super::model::Skill;
use super::pick::FoundPassage;
use crate::domain::{AnsweredBy, PassageId, SubAnswer};
use crate::llm::prompt::{self, READ};
use crate::llm::{Message, Purpose};
use crate::text::{one_line, tokens};

/// Answers to a part at most.
pub const PART_ANSWERS_MAX: usize = 3;
/// Words of an answer at most.
const ANSWER_WORDS_MAX: usize = 24;
/// Characters of an answer at most.
const ANSWER_CHARS_MAX: usize = 200;

/// A part of a question, and the passages found for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadTask {
    /// The part, with the answers to earlier ones in it.
    pub question: String,
    /// Which part it is, from 0.
    pub part: u32,
    /// The passages, best first.
    pub passages: Vec<FoundPassage>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct ReadReply {
    answers: Vec<ReadAnswer>,
}

#[derive(Debug, Deserialize)]
struct ReadAnswer {
    #[serde(default, deserialize_with = "lenient::text")]
    text: String,
    #[serde(deserialize_with = "lenient::one_number")]
    passage: i64,
}

/// The skill. It gives answers, the likeliest first; none if no passage has one.
#[derive(Debug, Clone, Copy)]
pub struct ReadSkill;

impl Skill for ReadSkill {
    type Input = ReadTask;
    type Reply = ReadReply;
    type Output = Vec<SubAnswer>;

    const NAME: &'static str = "read";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/read.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 256;

    fn messages(task: &ReadTask) -> Vec<Message> {
        let passages = task.passages.iter().zip(1..).map(|(passage, number)| passage.block(number));
        let passages = passages.collect::<Vec<_>>().join("\n\n");
        let question = one_line(&task.question);
        let mark = prompt::mark(&[&question, &passages]);
        let places = [
            ("mark", mark.as_str()),
            ("question", question.as_str()),
            ("passages", passages.as_str()),
            ("answers_max", &PART_ANSWERS_MAX.to_string()),
        ];
        prompt::messages(READ, &places)
    }

    fn shown(task: &ReadTask) -> Vec<PassageId> {
        task.passages.iter().map(|passage| passage.passage).collect()
    }

    fn step(task: &ReadTask) -> u32 {
        task.part
    }

    fn check(task: &ReadTask, reply: ReadReply) -> Result<Vec<SubAnswer>, String> {
        let count = task.passages.len();
        let answer = |ReadAnswer { text, passage: number }: ReadAnswer| {
            let place =
                place(number, count).ok_or_else(|| format!("it reads passage {number}; there are 1 to {count}"))?;
            let passage = &task.passages[place];
            let (text, words) = (one_line(&text), tokens(&text));
            if text.chars().count() > ANSWER_CHARS_MAX {
                return Err(format!("an answer has more than {ANSWER_CHARS_MAX} characters"));
            }
            if words.is_empty() || words.len() > ANSWER_WORDS_MAX {
                return Err(format!("an answer has 1 to {ANSWER_WORDS_MAX} words, not {}", words.len()));
            }
            let has = |shown: &str| tokens(shown).windows(words.len()).any(|window| window == words);
            if !has(&passage.text) && !has(&passage.name) {
                return Err(format!("`{text}` does not stand in passage {number}"));
            }
            Ok(SubAnswer { text, by: AnsweredBy::Model, passage: passage.passage })
        };
        let mut problem = None;
        // Valid ones are kept without the invalid ones.
        let sound = reply
            .answers
            .into_iter()
            .filter_map(|it| answer(it).map_err(|why| problem.get_or_insert(why).clone()).ok());
        let sound: Vec<SubAnswer> = sound.take(PART_ANSWERS_MAX).collect();
        problem.filter(|_| sound.is_empty()).map_or(Ok(sound), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> ReadTask {
        let passage = |name: &str, text: &str| FoundPassage {
            passage: PassageId::of(&[name.as_bytes()]),
            name: name.to_owned(),
            text: text.to_owned(),
            reached_by: None,
        };
        let passages = vec![
            passage("Harl Mill", "It was built by the engineer\nAda  Lorne in 1841."),
            passage("Ada Lorne", "She was born in Vell."),
        ];
        ReadTask { question: "Who built Harl Mill?".to_owned(), part: 1, passages }
    }

    fn checked(answers: &[(&str, i64)]) -> Result<Vec<SubAnswer>, String> {
        let answer = |(text, passage): &(&str, i64)| ReadAnswer { text: (*text).to_owned(), passage: *passage };
        ReadSkill::check(&task(), ReadReply { answers: answers.iter().map(answer).collect() })
    }

    #[test]
    fn an_answer_stands_in_the_passage_that_it_is_read_in() {
        let read = checked(&[("ada lorne", 1), ("Ada Lorne", 2)]).unwrap();
        let [first, second] = &read[..] else { panic!("two answers") };
        assert_eq!((first.text.as_str(), first.by), ("ada lorne", AnsweredBy::Model));
        assert_eq!([first.passage, second.passage], [task().passages[0].passage, task().passages[1].passage]);
        assert_eq!(checked(&[]), Ok(Vec::new()));
        let wrong = [("Vell", 1), ("Lorne Ada", 1), ("Ada Lorne", 3), ("Ada Lorne", 0), ("…", 1)];
        for (text, passage) in wrong {
            assert!(checked(&[(text, passage)]).is_err(), "{text} in {passage}");
        }
        let why = checked(&[("Vell", 1)]).unwrap_err();
        assert_eq!(why, "`Vell` does not stand in passage 1");
        assert_eq!(checked(&[("Ada", 1); 4]).unwrap().len(), 3, "no more than are allowed");
        assert_eq!(checked(&[("Vell", 1), ("Vell", 2)]).unwrap().len(), 1, "one that holds");
        assert!(checked(&["in ".repeat(40).as_str()].map(|text| (text, 1))).is_err(), "an essay");
        let noise = format!("Ada Lorne{}", "!".repeat(200));
        assert_eq!(checked(&[(&noise, 1)]), Err("an answer has more than 200 characters".to_owned()));
    }

    #[test]
    fn passages_are_fenced_and_numbered() {
        let messages = ReadSkill::messages(&task());
        let [system, user] = &messages[..] else { panic!("two messages") };
        assert!(system.text.contains("3 at most"), "{system:?}");
        assert!(user.text.contains("[2] Ada Lorne\nShe was born in Vell.\n==="), "{user:?}");
        assert_eq!((ReadSkill::step(&task()), ReadSkill::shown(&task()).len()), (1, 2));
    }
}
