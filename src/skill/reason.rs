//! `reason`: a conclusion from the notes, what is missing, and whether they suffice: `DualRAG`'s reasoner. There is no
//! rule twin.

use serde::Deserialize;

use super::lenient;
use super::model::Skill;
use super::outline::{NotedHeading, block, lines};
use crate::llm::prompt::{self, REASON};
use crate::llm::{Message, Purpose};
use crate::text::{one_line, tokens};

/// Maximum number of missing pieces.
const MISSING_MAX: usize = super::enough::MISSING_MAX;
/// Maximum characters of a missing piece, and of a conclusion.
const CHARS_MAX: usize = 500;

/// A question, and the notes for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasonTask {
    /// The question.
    pub question: String,
    /// The notes, under their headings.
    pub outline: Vec<NotedHeading>,
    /// The conclusions of earlier rounds, in order.
    pub thoughts: Vec<String>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct ReasonReply {
    #[serde(default, deserialize_with = "lenient::text")]
    known: String,
    #[serde(default, deserialize_with = "lenient::texts")]
    missing: Vec<String>,
    #[serde(deserialize_with = "lenient::flag")]
    enough: Option<bool>,
}

/// The conclusion from notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reasoned {
    /// How far they lead.
    pub known: String,
    /// What is missing; not empty if the notes do not suffice.
    pub missing: Vec<String>,
    /// Whether they are enough.
    pub is_enough: bool,
}

/// The skill.
#[derive(Debug, Clone, Copy)]
pub struct ReasonSkill;

impl Skill for ReasonSkill {
    type Input = ReasonTask;
    type Reply = ReasonReply;
    type Output = Reasoned;

    const NAME: &'static str = "reason";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/reason.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 512;

    fn messages(task: &ReasonTask) -> Vec<Message> {
        let (question, outline) = (one_line(&task.question), block(&task.outline));
        let thoughts = lines(&task.thoughts, "Nothing was reasoned yet.");
        let mark = prompt::mark(&[&question, &outline, &thoughts]);
        let places = [
            ("mark", mark.as_str()),
            ("question", question.as_str()),
            ("outline", outline.as_str()),
            ("thoughts", thoughts.as_str()),
            ("missing_max", &MISSING_MAX.to_string()),
        ];
        prompt::messages(REASON, &places)
    }

    fn step(task: &ReasonTask) -> u32 {
        task.thoughts.len() as u32
    }

    fn check(task: &ReasonTask, reply: ReasonReply) -> Result<Reasoned, String> {
        let is_enough = reply.enough.ok_or_else(|| "`enough` is neither true nor false".to_owned())?;
        if is_enough && task.outline.iter().all(|heading| heading.notes.is_empty()) {
            return Err("`enough` is true, and nothing was noted".to_owned());
        }
        let said = reply.missing.iter().map(|it| one_line(it));
        let is_kept = |it: &String| !tokens(it).is_empty() && it.chars().count() <= CHARS_MAX;
        let missing: Vec<String> = said.filter(is_kept).take(MISSING_MAX).collect();
        if !is_enough && missing.is_empty() {
            return Err("`enough` is false, and nothing is missing".to_owned());
        }
        let known: String = one_line(&reply.known).chars().take(CHARS_MAX).collect();
        Ok(Reasoned { known, missing: if is_enough { Vec::new() } else { missing }, is_enough })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(notes: &[&str]) -> ReasonTask {
        let notes = notes.iter().map(|it| (*it).to_owned()).collect();
        let outline = vec![NotedHeading { name: "Harl\nMill".to_owned(), notes }];
        ReasonTask { question: "When?".to_owned(), outline, thoughts: vec!["It was\nbuilt.".to_owned()] }
    }

    #[test]
    fn notes_stand_under_their_headings_before_what_was_reasoned() {
        let messages = ReasonSkill::messages(&task(&["Built by Ada.", "It\nburned."]));
        let mark = messages[1].text.lines().next().unwrap();
        let expect = format!("[1] Harl Mill\n- Built by Ada.\n- It burned.\n{mark}\n- It was built.\n{mark}\n");
        assert!(messages[1].text.contains(&expect), "{messages:?}");
        let nothing = ReasonTask { outline: Vec::new(), thoughts: Vec::new(), ..task(&[]) };
        let said = &ReasonSkill::messages(&nothing)[1].text;
        assert!(said.contains("Nothing was noted yet.") && said.contains("Nothing was reasoned yet."), "{said}");
    }

    #[test]
    fn either_notes_are_enough_or_something_is_missing() {
        let check = |notes: &[&str], enough: Option<bool>, missing: &[&str]| {
            let missing = missing.iter().map(|it| (*it).to_owned()).collect();
            ReasonSkill::check(&task(notes), ReasonReply { known: "K".repeat(600), missing, enough })
        };
        assert!(check(&["a"], Some(true), &["b"]).unwrap().missing.is_empty());
        assert_eq!(check(&["a"], Some(false), &["b", "?", "c", "d", "e", "f"]).unwrap().missing, ["b", "c", "d", "e"]);
        assert_eq!(check(&["a"], Some(true), &[]).unwrap().known.len(), CHARS_MAX);
        for (notes, enough, missing) in
            [(&["a"][..], Some(false), &["?!"][..]), (&[], Some(true), &[]), (&["a"], None, &["b"])]
        {
            assert!(check(notes, enough, missing).is_err(), "{notes:?} {enough:?} {missing:?}");
        }
    }
}
