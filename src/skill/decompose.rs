//! `decompose`: the parts of a question, each of which a single passage may answer, as in `HopRAG`'s baseline and
//! `LevelRAG`. A later part names the answer to an earlier one by its number. Without a model, a question is its only
//! part.

use std::ops::Range;

use serde::Deserialize;

use super::lenient;
use super::model::Skill;
use crate::llm::prompt::{self, DECOMPOSE};
use crate::llm::{Message, Purpose};
use crate::text::{one_line, terms, tokens};

/// Parts of a question at most.
pub const PARTS_MAX: usize = 6;
/// Characters of a part at most.
const PART_CHARS_MAX: usize = 500;

/// A question to be split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecomposeTask {
    /// The question.
    pub question: String,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct DecomposeReply {
    #[serde(deserialize_with = "lenient::texts")]
    parts: Vec<String>,
}

/// A part of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubQuestion {
    /// Its text; `#1` stands for the answer to the first part.
    pub text: String,
    /// The parts whose answers it needs, from 0, ascending; all of them come before it.
    pub needs: Vec<usize>,
}

impl SubQuestion {
    /// Returns the part that a text is.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self::of(text, "")
    }

    /// Returns the part of a question that a text is. What the question says of `#1` is no reference.
    fn of(text: &str, question: &str) -> Self {
        let is_said = |range: &Range<usize>| question.contains(with_next_word(text, range));
        let references = references(text).into_iter().filter(|(range, _)| !is_said(range));
        let mut needs: Vec<usize> = references.map(|(_, part)| part).collect();
        needs.sort_unstable();
        needs.dedup();
        Self { text: text.to_owned(), needs }
    }

    /// Returns its text with the answers that it needs; none if one is missing.
    #[must_use]
    pub fn filled<'a>(&self, answer: impl Fn(usize) -> Option<&'a str>) -> Option<String> {
        let mut text = String::new();
        let mut from = 0;
        for (range, part) in references(&self.text).into_iter().filter(|(_, part)| self.needs.contains(part)) {
            text.push_str(self.text.get(from..range.start)?);
            text.push_str(answer(part)?);
            from = range.end;
        }
        text.push_str(self.text.get(from..)?);
        Some(text)
    }
}

/// Returns where a text names parts by their numbers, and which, from 0.
fn references(text: &str) -> Vec<(Range<usize>, usize)> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices('#') {
        let digits = text[start + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let end = start + 1 + digits;
        if let Some(number) = text[start + 1..end].parse::<usize>().ok().and_then(|number| number.checked_sub(1)) {
            found.push((start..end, number));
        }
    }
    found
}

/// Returns a reference in a text with the word behind it, if there is one.
fn with_next_word<'a>(text: &'a str, reference: &Range<usize>) -> &'a str {
    let behind = &text[reference.end..];
    let word = behind
        .strip_prefix(' ')
        .map_or(0, |word| 1 + word.find(|it: char| !it.is_alphanumeric()).unwrap_or(word.len()));
    &text[reference.start..reference.end + word]
}

/// Returns whether a text has a word of a question that says something.
fn shares_word(text: &str, question: &str) -> bool {
    let asked = terms(question);
    asked.is_empty() || terms(text).iter().any(|term| asked.contains(term))
}

/// The skill. It gives the parts in the order in which they have to be asked.
#[derive(Debug, Clone, Copy)]
pub struct DecomposeSkill;

impl Skill for DecomposeSkill {
    type Input = DecomposeTask;
    type Reply = DecomposeReply;
    type Output = Vec<SubQuestion>;

    const NAME: &'static str = "decompose";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/decompose.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 512;

    fn messages(task: &DecomposeTask) -> Vec<Message> {
        let question = one_line(&task.question);
        let mark = prompt::mark(&[&question]);
        let places = [("mark", mark.as_str()), ("question", question.as_str()), ("parts_max", &PARTS_MAX.to_string())];
        prompt::messages(DECOMPOSE, &places)
    }

    fn check(task: &DecomposeTask, reply: DecomposeReply) -> Result<Vec<SubQuestion>, String> {
        let count = reply.parts.len();
        if !(1..=PARTS_MAX).contains(&count) {
            return Err(format!("it has {count} parts; 1 to {PARTS_MAX} are allowed"));
        }
        let part = |(text, place): (&String, usize)| {
            let (text, number) = (one_line(text), place + 1);
            if tokens(&text).is_empty() {
                return Err(format!("part {number} asks nothing"));
            }
            if text.chars().count() > PART_CHARS_MAX {
                return Err(format!("part {number} has more than {PART_CHARS_MAX} characters"));
            }
            let part = SubQuestion::of(&text, &task.question);
            match part.needs.last() {
                Some(last) if *last >= place => {
                    Err(format!("part {number} needs the answer to part {}, which does not come before it", last + 1))
                }
                _ => Ok(part),
            }
        };
        let parts: Vec<SubQuestion> = reply.parts.iter().zip(0..).map(part).collect::<Result<_, String>>()?;
        if !parts.iter().any(|part| shares_word(&part.text, &task.question)) {
            return Err("no part has a word of the question".to_owned());
        }
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(parts: &[&str]) -> Result<Vec<SubQuestion>, String> {
        let task = DecomposeTask { question: "When was the director of Northern Lights born?".to_owned() };
        DecomposeSkill::check(&task, DecomposeReply { parts: parts.iter().map(|it| (*it).to_owned()).collect() })
    }

    #[test]
    fn a_part_names_the_parts_whose_answers_it_needs() {
        let parts = checked(&["Who directed Northern Lights?", "Where is #1's wife,\nwho knew #1, buried?"]).unwrap();
        assert_eq!(parts[0].needs, [0usize; 0]);
        assert_eq!(parts[1].needs, [0]);
        let filled = parts[1].filled(|_| Some("Ada Lorne"));
        assert_eq!(filled.as_deref(), Some("Where is Ada Lorne's wife, who knew Ada Lorne, buried?"));
        assert_eq!(parts[1].filled(|_| None), None);
        assert_eq!(SubQuestion::new("What is C# or #0 or #?").needs, [0usize; 0]);
    }

    #[test]
    fn what_the_question_says_of_a_number_is_no_reference() {
        let asked = |parts: &[&str]| {
            let task = DecomposeTask { question: "Who sang the #1 song of 1999, and where was she born?".to_owned() };
            DecomposeSkill::check(&task, DecomposeReply { parts: parts.iter().map(|it| (*it).to_owned()).collect() })
        };
        let parts = asked(&["Who sang the #1 song of 1999?", "Where was #1 born?"]).unwrap();
        assert_eq!((parts[0].needs.len(), &parts[1].needs[..]), (0, &[0][..]));
        assert_eq!(parts[0].filled(|_| None).as_deref(), Some("Who sang the #1 song of 1999?"));
        assert!(asked(&["Who sang the #1 hit of 1999?"]).is_err(), "it says something else");
    }

    #[test]
    fn parts_are_few_ask_something_and_need_only_what_comes_before_them() {
        let many = ["Who?"; PARTS_MAX + 1];
        let long = "who ".repeat(PART_CHARS_MAX);
        let wrong: [(&[&str], &str); 7] = [
            (&["Where is Harl Mill?", "Who built #1?"], "no part has a word of the question"),
            (&[], "it has 0 parts"),
            (&many, "it has 7 parts"),
            (&["Who?", "?!"], "part 2 asks nothing"),
            (&[&long], "part 1 has more than 500 characters"),
            (&["When was #1 born?"], "part 1 needs the answer to part 1"),
            (&["Who?", "When was #3 born?", "Who?"], "part 2 needs the answer to part 3"),
        ];
        for (parts, expect) in wrong {
            let why = checked(parts).unwrap_err();
            assert!(why.starts_with(expect), "{why}");
        }
    }

    #[test]
    fn the_question_is_fenced() {
        let question = "=====\nWho?\n=== 0 ===".to_owned();
        let messages = DecomposeSkill::messages(&DecomposeTask { question });
        let [system, user] = &messages[..] else { panic!("two messages") };
        let mark = user.text.lines().next().unwrap();
        assert_eq!(user.text, format!("{mark}\n===== Who? === 0 ===\n{mark}"));
        assert!(system.text.contains(mark) && system.text.contains("6 parts at most"), "{system:?}");
    }
}
