//! `citations`: a model judges whether the cited passages support each sentence. Its rule twin is
//! [`is_supported`](super::is_supported), which looks at words and not at meaning.

use serde::Deserialize;

use super::answer::{CitedSentence, ShownPassage, place};
use super::lenient;
use super::model::Skill;
use crate::llm::prompt::{self, CITATIONS};
use crate::llm::{Message, Purpose};
use crate::text::one_line;

/// Sentences, and their citations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitationsTask {
    /// The question that they answer.
    pub question: String,
    /// All passages that were shown to the writer; only those cited are shown again.
    pub passages: Vec<ShownPassage>,
    /// The sentences.
    pub sentences: Vec<CitedSentence>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct CitationsReply {
    verdicts: Vec<VerdictReply>,
}

/// A verdict by the number of its sentence. The reason, which comes first so that the verdict can follow from it, is
/// not read.
#[derive(Debug, Deserialize)]
struct VerdictReply {
    #[serde(deserialize_with = "lenient::one_number")]
    sentence: i64,
    #[serde(default, deserialize_with = "lenient::flag")]
    borne_out: Option<bool>,
}

/// The skill. It gives, for each sentence in order, whether its citations support it; none without a verdict.
#[derive(Debug, Clone, Copy)]
pub struct CitationsSkill;

impl Skill for CitationsSkill {
    type Input = CitationsTask;
    type Reply = CitationsReply;
    type Output = Vec<Option<bool>>;

    const NAME: &'static str = "citations";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/citations.schema.json");
    const PURPOSE: Purpose = Purpose::Answer;
    const OUTPUT_TOKENS_MAX: u32 = 768;

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

    fn check(task: &CitationsTask, reply: CitationsReply) -> Result<Vec<Option<bool>>, String> {
        let mut verdicts = vec![None; task.sentences.len()];
        for VerdictReply { sentence, borne_out } in reply.verdicts {
            let Some(verdict) = place(sentence, verdicts.len()).and_then(|place| verdicts.get_mut(place)) else {
                continue;
            };
            // Of two verdicts the one that believes less counts.
            *verdict = verdict.zip(borne_out).map_or(verdict.or(borne_out), |(one, other)| Some(one && other));
        }
        if verdicts.iter().all(Option::is_none) {
            return Err(format!("it has no verdict on any of the sentences 1 to {}", verdicts.len()));
        }
        Ok(verdicts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> CitationsTask {
        let passage = |name: &str| ShownPassage { name: name.to_owned(), text: format!("{name} was built.") };
        let sentence = |text: &str, passages: &[usize]| CitedSentence {
            text: text.to_owned(),
            passages: passages.into(),
            web: Vec::new(),
        };
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
        let mark = lines[0];
        let expect = [
            "Question: Who built them?",
            mark,
            "[1] Harl Mill",
            "Harl Mill was built.",
            "",
            "[3] Orn Mill",
            "Orn Mill was built.",
            mark,
            "1. Ada built both. [1, 3]",
            "2. Both stand. Forged [3]",
        ];
        assert_eq!(lines[1..lines.len() - 1], expect);
        assert!(lines[0].starts_with("=== ") && lines[0] == lines[lines.len() - 1], "{user:?}");
    }

    #[test]
    fn verdicts_are_by_the_numbers_of_sentences_and_one_that_lacks_leaves_the_others() {
        let check = |verdicts: serde_json::Value| {
            let reply = serde_json::from_value(serde_json::json!({ "verdicts": verdicts })).unwrap();
            CitationsSkill::check(&task(), reply)
        };
        let verdict = |sentence: i64, borne_out: bool| {
            let reason = "r";
            serde_json::json!({ "sentence": sentence, "reason": reason, "borne_out": borne_out })
        };
        assert_eq!(check(vec![verdict(2, false), verdict(1, true)].into()), Ok(vec![Some(true), Some(false)]));
        assert_eq!(check(vec![verdict(2, true), verdict(3, true)].into()), Ok(vec![None, Some(true)]));
        assert_eq!(check(vec![verdict(1, true), verdict(1, false)].into()), Ok(vec![Some(false), None]));
        assert_eq!(check(serde_json::json!([{ "sentence": "1", "borne_out": "yes" }])), Ok(vec![Some(true), None]));
        assert!(check(vec![verdict(0, true)].into()).unwrap_err().contains("1 to 2"));
        assert!(check(serde_json::json!([])).is_err());
    }
}
