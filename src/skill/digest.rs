//! `digest`: a short note on one subject from passages, which it cites: `DualRAG`'s knowledge summarizer, and
//! `LevelRAG`'s note on a sub-question. A note that they do not support is refused, so nothing comes from a model's
//! memory. Its rule twin quotes the sentence nearest to the subject.

use serde::Deserialize;

use super::answer::{best_sentence, is_supported, place};
use super::lenient;
use super::model::Skill;
use super::pick::FoundPassage;
use crate::domain::PassageId;
use crate::llm::prompt::{self, DIGEST};
use crate::llm::{Message, Purpose};
use crate::text::{one_line, tokens};

/// Passages that a note is made of at most.
pub const DIGESTED_MAX: usize = 10;
/// Characters of a note at most.
const NOTE_CHARS_MAX: usize = 1_000;

/// Passages, and the subject of a note on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestTask {
    /// The question that has to be answered in the end.
    pub question: String,
    /// Which note it is, from 0.
    pub number: u32,
    /// The subject: a sub-question, or an entity with its query.
    pub about: String,
    /// The passages, best first.
    pub passages: Vec<FoundPassage>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct DigestReply {
    #[serde(deserialize_with = "lenient::text")]
    note: String,
    #[serde(default, deserialize_with = "lenient::numbers")]
    passages: Vec<i64>,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// The text of the note.
    pub text: String,
    /// Those that say it: at least one.
    pub passages: Vec<PassageId>,
    /// Their places in the task, from 0.
    pub places: Vec<usize>,
}

/// The skill. It gives a note, or none if the passages say nothing relevant.
#[derive(Debug, Clone, Copy)]
pub struct DigestSkill;

impl Skill for DigestSkill {
    type Input = DigestTask;
    type Reply = DigestReply;
    type Output = Option<Digest>;

    const NAME: &'static str = "digest";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/digest.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 512;

    fn messages(task: &DigestTask) -> Vec<Message> {
        let passages = task.passages.iter().zip(1..).map(|(passage, number)| passage.block(number));
        let passages = passages.collect::<Vec<_>>().join("\n\n");
        let [question, about] = [&task.question, &task.about].map(|it| one_line(it));
        let mark = prompt::mark(&[&question, &about, &passages]);
        let places = [
            ("mark", mark.as_str()),
            ("question", question.as_str()),
            ("about", about.as_str()),
            ("passages", passages.as_str()),
        ];
        prompt::messages(DIGEST, &places)
    }

    fn shown(task: &DigestTask) -> Vec<PassageId> {
        task.passages.iter().map(|passage| passage.passage).collect()
    }

    fn step(task: &DigestTask) -> u32 {
        task.number
    }

    fn check(task: &DigestTask, reply: DigestReply) -> Result<Option<Digest>, String> {
        let text = one_line(&reply.note);
        let is_none = text.trim_end_matches('.').eq_ignore_ascii_case("none");
        if tokens(&text).is_empty() || is_none && reply.passages.is_empty() {
            return Ok(None);
        }
        if text.chars().count() > NOTE_CHARS_MAX {
            return Err(format!("the note has more than {NOTE_CHARS_MAX} characters"));
        }
        let count = task.passages.len();
        let mut places: Vec<usize> = reply.passages.iter().filter_map(|number| place(*number, count)).collect();
        places.sort_unstable();
        places.dedup();
        if places.is_empty() {
            return Err(format!("the note names no passage that says it; there are 1 to {count}"));
        }
        let cited: Vec<&FoundPassage> = places.iter().filter_map(|place| task.passages.get(*place)).collect();
        let texts: Vec<&str> = cited.iter().flat_map(|it| [it.name.as_str(), it.text.as_str()]).collect();
        if !is_supported(&text, &format!("{} {}", task.question, task.about), &texts) {
            return Err("the passages that the note names do not say what it says".to_owned());
        }
        let passages = cited.iter().map(|passage| passage.passage).collect();
        Ok(Some(Digest { text, passages, places }))
    }
}

/// Returns the sentence of the best passage nearest to the subject of a note; none if there is no passage.
#[must_use]
pub fn digest_by_rule(task: &DigestTask) -> Option<Digest> {
    let best = task.passages.first()?;
    let text = best.text.get(best_sentence(&best.text, &task.about)?)?;
    let text = one_line(text).chars().take(NOTE_CHARS_MAX).collect();
    Some(Digest { text, passages: vec![best.passage], places: vec![0] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> DigestTask {
        let passage = |name: &str, text: &str| FoundPassage {
            passage: PassageId::of(&[name.as_bytes()]),
            name: name.to_owned(),
            text: text.to_owned(),
            reached_by: None,
        };
        let passages =
            vec![passage("Harl Mill", "It stands in Vell. It was built by Ada Lorne."), passage("Vell", "A town.")];
        let about = "Who built\nHarl Mill?".to_owned();
        DigestTask { question: "When was its builder born?".to_owned(), number: 3, about, passages }
    }

    fn checked(note: &str, passages: &[i64]) -> Result<Option<Digest>, String> {
        DigestSkill::check(&task(), DigestReply { note: note.to_owned(), passages: passages.into() })
    }

    #[test]
    fn a_note_cites_passages_that_support_it() {
        let note = checked("Harl Mill was built\nby Ada Lorne.", &[1, 1, 7]).unwrap().unwrap();
        assert_eq!((note.text.as_str(), note.passages.len()), ("Harl Mill was built by Ada Lorne.", 1));
        for nothing in [("", &[][..]), ("None.", &[]), ("…", &[1])] {
            assert_eq!(checked(nothing.0, nothing.1), Ok(None), "{nothing:?}");
        }
        for (note, passages) in [
            ("Harl Mill was built by Tom Reed.", &[1][..]),
            ("Harl Mill was built by Ada Lorne in 1802.", &[1]),
            ("Harl Mill was built by Ada Lorne.", &[]),
            ("Harl Mill was built by Ada Lorne.", &[9]),
            ("It was built by Ada Lorne.", &[2]),
        ] {
            assert!(checked(note, passages).is_err(), "{note}");
        }
        assert!(checked(&"built by Ada Lorne ".repeat(60), &[1]).unwrap_err().contains("characters"));
    }

    #[test]
    fn the_rule_quotes_what_is_nearest() {
        assert_eq!(digest_by_rule(&task()).unwrap().text, "It was built by Ada Lorne.");
        assert_eq!(digest_by_rule(&DigestTask { passages: Vec::new(), ..task() }), None);
    }

    #[test]
    fn passages_are_fenced_and_numbered() {
        let messages = DigestSkill::messages(&task());
        let said = &messages[1].text;
        assert!(said.contains("\nAbout: Who built Harl Mill?\n===") && said.contains("[2] Vell\nA town.\n==="));
        assert_eq!((DigestSkill::step(&task()), DigestSkill::shown(&task()).len()), (3, 2));
    }
}
