//! `conclude`: an answer from a strategy's notes, with the passages behind them. It is `answer` with notes before the
//! passages: notes guide, only passages are cited.

use super::answer::{AnswerReply, AnswerSkill, AnswerTask, SENTENCES_MAX, WrittenAnswer, blocks};
use super::model::Skill;
use crate::llm::prompt::{self, CONCLUDE};
use crate::llm::{Message, Purpose};
use crate::text::one_line;

/// A question with passages, and notes on them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcludeTask {
    /// The question with its passages.
    pub asked: AnswerTask,
    /// The notes, in the order in which they were made.
    pub notes: Vec<ShownNote>,
}

/// A note as a model sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownNote {
    /// Its subject: a sub-question, or an entity.
    pub about: String,
    /// Its text.
    pub text: String,
    /// The places of the passages that it was read in, from 0.
    pub passages: Vec<usize>,
}

/// Returns notes as a prompt shows them.
pub(super) fn note_lines(notes: &[ShownNote]) -> String {
    let line = |note: &ShownNote| {
        let places: Vec<String> = note.passages.iter().map(|place| (place + 1).to_string()).collect();
        format!("- {}: {} [{}]", one_line(&note.about), one_line(&note.text), places.join(", "))
    };
    notes.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The skill.
#[derive(Debug, Clone, Copy)]
pub struct ConcludeSkill;

impl Skill for ConcludeSkill {
    type Input = ConcludeTask;
    type Reply = AnswerReply;
    type Output = WrittenAnswer;

    const NAME: &'static str = "conclude";
    const SCHEMA: &'static str = AnswerSkill::SCHEMA;
    const PURPOSE: Purpose = Purpose::Answer;
    const OUTPUT_TOKENS_MAX: u32 = AnswerSkill::OUTPUT_TOKENS_MAX;

    fn messages(task: &ConcludeTask) -> Vec<Message> {
        let notes = note_lines(&task.notes);
        let (question, passages) = (one_line(&task.asked.question), blocks(&task.asked.passages));
        let mark = prompt::mark(&[&question, &notes, &passages]);
        let places = [
            ("mark", mark.as_str()),
            ("question", question.as_str()),
            ("notes", notes.as_str()),
            ("passages", passages.as_str()),
            ("sentences_max", &SENTENCES_MAX.to_string()),
        ];
        prompt::messages(CONCLUDE, &places)
    }

    fn check(task: &ConcludeTask, reply: AnswerReply) -> Result<WrittenAnswer, String> {
        AnswerSkill::check(&task.asked, reply)
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer::ShownPassage;
    use super::*;

    #[test]
    fn notes_stand_before_the_passages_with_the_numbers_of_those_they_were_read_in() {
        let passage = |name: &str| ShownPassage { name: name.to_owned(), text: format!("{name} was built.") };
        let asked = AnswerTask { question: "Who?".to_owned(), passages: vec![passage("Mill"), passage("Weir")] };
        let note = ShownNote { about: "Who built\nit?".to_owned(), text: "Ada".to_owned(), passages: vec![1, 0] };
        let messages = ConcludeSkill::messages(&ConcludeTask { asked, notes: vec![note] });
        let mark = messages[1].text.lines().next().unwrap();
        let expect = format!(
            "{mark}\nQuestion: Who?\n{mark}\n- Who built it?: Ada [2, 1]\n{mark}\n[1] Mill\nMill was built.\n\n[2] \
             Weir\nWeir was built.\n{mark}\nQuestion: Who?\n{mark}"
        );
        assert_eq!(messages[1].text, expect);
    }
}
