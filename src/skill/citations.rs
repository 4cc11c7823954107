//! `citations`: whether sentences are borne out by the passages that they cite, judged by a model. Its rule twin is
//! [`is_supported`](super::is_supported), which looks at words and not at sense.

use serde::Deserialize;

use super::answer::{CitedSentence, ShownPassage};
use super::model::Skill;
use crate::llm::prompt::{self, CITATIONS};
use crate::llm::{Message, Purpose};
use crate::text::one_line;

/// Sentences, and what they cite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitationsTask {
    /// The question that they answer.
    pub question: String,
    /// All passages that were shown to who wrote them; only those that are cited are shown again.
    pub passages: Vec<ShownPassage>,
    /// The sentences.
    pub sentences: Vec<CitedSentence>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CitationsReply {
    borne_out: Vec<bool>,
}

/// The skill. It gives, for each sentence in order, whether what it cites bears it out.
#[derive(Debug, Clone, Copy)]
pub struct CitationsSkill;

impl Skill for CitationsSkill {
    type Input = CitationsTask;
    type Reply = CitationsReply;
    type Output = Vec<bool>;

    const NAME: &'static str = "citations";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/citations.schema.json");
    const PURPOSE: Purpose = Purpose::Answer;
    const OUTPUT_TOKENS_MAX: u32 = 128;

    fn messages(task: &CitationsTask) -> Vec<Message> {
        let is_cited = |place: &usize| task.sentences.iter().any(|sentence| sentence.passages.contains(place));
        let cited = task.passages.iter().enumerate().filter(|(place, _)| is_cited(place));
        let block = |(place, passage): (usize, &ShownPassage)| {
            format!("[{}] {}\n{}", place + 1, one_line(&passage.name), passage.text.trim())
        };
        let passages = cited.map(block).collect::<Vec<_>>().join("\n\n");
        let line = |(sentence, number): (&CitedSentence, usize)| {
            let places: Vec<String> = sentence.passages.iter().map(|place| (place + 1).to_string()).collect();
            format!("{number}. {} [{}]", one_line(&sentence.text), places.join(", "))
        };
        let sentences = task.sentences.iter().zip(1..).map(line).collect::<Vec<_>>().join("\n");
        let question = one_line(&task.question);
        let mark = prompt::mark(&[&question, &passages, &sentences]);
        let places = [
            ("mark", mark.as_str()),
            ("question", question.as_str()),
            ("passages", passages.as_str()),
            ("sentences", sentences.as_str()),
            ("sentence_count", &task.sentences.len().to_string()),
        ];
        prompt::messages(CITATIONS, &places)
    }

    fn check(task: &CitationsTask, reply: CitationsReply) -> Result<Vec<bool>, String> {
        let (given, due) = (reply.borne_out.len(), task.sentences.len());
        if given == due {
            Ok(reply.borne_out)
        } else {
            Err(format!("`borne_out` has {given} values for {due} sentences"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> CitationsTask {
        let passage = |name: &str| ShownPassage { name: name.to_owned(), text: format!("{name} was built.") };
        let sentence =
            |text: &str, passages: &[usize]| CitedSentence { text: text.to_owned(), passages: passages.into() };
        CitationsTask {
            question: "Who built\nthem?".to_owned(),
            passages: ["Harl Mill", "Pale Mill", "Orn Mill"].map(passage).into(),
            sentences: vec![sentence("Ada built both.", &[0, 2]), sentence("Both stand.\nForged", &[2])],
        }
    }

    #[test]
    fn a_model_sees_the_sentences_with_the_passages_that_they_cite_and_no_others() {
        let messages = CitationsSkill::messages(&task());
        let [system, user] = &messages[..] else { panic!("two messages") };
        assert!(system.text.contains("2 in all"), "{system:?}");
        let lines: Vec<&str> = user.text.lines().collect();
        let expect = [
            "Question: Who built them?",
            "",
            "[1] Harl Mill",
            "Harl Mill was built.",
            "",
            "[3] Orn Mill",
            "Orn Mill was built.",
            "",
            "Sentences:",
            "1. Ada built both. [1, 3]",
            "2. Both stand. Forged [3]",
        ];
        assert_eq!(lines[1..lines.len() - 1], expect);
        assert!(lines[0].starts_with("=== ") && lines[0] == lines[lines.len() - 1], "{user:?}");
    }

    #[test]
    fn there_is_one_verdict_for_each_sentence() {
        let check = |borne_out: &[bool]| CitationsSkill::check(&task(), CitationsReply { borne_out: borne_out.into() });
        assert_eq!(check(&[true, false]), Ok(vec![true, false]));
        assert_eq!(check(&[true]), Err("`borne_out` has 1 values for 2 sentences".to_owned()));
    }
}
