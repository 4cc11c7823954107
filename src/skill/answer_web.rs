//! `answer_web`: an answer from passages, notes on them, and web results. It is `conclude` with these results after the
//! passages, with separate numbers: a sentence cites either.

use super::answer::{AnswerReply, AnswerTask, SENTENCES_MAX, ShownPassage, WrittenAnswer, blocks, checked};
use super::conclude::{ShownNote, note_lines};
use super::model::Skill;
use crate::llm::prompt::{self, ANSWER_WEB};
use crate::llm::{Message, Purpose};
use crate::text::one_line;

/// A question with passages, what was noted of them, and web results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebAnswerTask {
    /// The question with its passages.
    pub asked: AnswerTask,
    /// The notes, in the order in which they were made.
    pub notes: Vec<ShownNote>,
    /// Titles and snippets of web results.
    pub web: Vec<ShownPassage>,
}

/// The skill.
#[derive(Debug, Clone, Copy)]
pub struct WebAnswerSkill;

impl Skill for WebAnswerSkill {
    type Input = WebAnswerTask;
    type Reply = AnswerReply;
    type Output = WrittenAnswer;

    const NAME: &'static str = "answer_web";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/answer_web.schema.json");
    const PURPOSE: Purpose = Purpose::Answer;
    const OUTPUT_TOKENS_MAX: u32 = 1_024;

    fn messages(task: &WebAnswerTask) -> Vec<Message> {
        let notes = note_lines(&task.notes);
        let (question, passages) = (one_line(&task.asked.question), blocks(&task.asked.passages));
        let result = |(it, number): (&ShownPassage, usize)| format!("[w{number}] {}\n{}", one_line(&it.name), it.text);
        let web = task.web.iter().zip(1..).map(result).collect::<Vec<_>>().join("\n\n");
        let mark = prompt::mark(&[&question, &notes, &passages, &web]);
        let places = [
            ("mark", mark.as_str()),
            ("question", question.as_str()),
            ("notes", notes.as_str()),
            ("passages", passages.as_str()),
            ("web", web.as_str()),
            ("sentences_max", &SENTENCES_MAX.to_string()),
        ];
        prompt::messages(ANSWER_WEB, &places)
    }

    fn check(task: &WebAnswerTask, reply: AnswerReply) -> Result<WrittenAnswer, String> {
        checked(&task.asked.passages, &task.web, &reply)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn task() -> WebAnswerTask {
        let shown = |name: &str, text: &str| ShownPassage { name: name.to_owned(), text: text.to_owned() };
        let passages = vec![shown("Mill", "Harl Mill was built by Ada Lorne.")];
        let asked = AnswerTask { question: "When was she born?".to_owned(), passages };
        let web = vec![shown("Ada\nLorne", "Ada Lorne (1801-1870)"), shown("Weir", "Old.")];
        WebAnswerTask { asked, notes: Vec::new(), web }
    }

    #[test]
    fn results_of_the_web_have_numbers_of_their_own_and_stand_between_marks() {
        let messages = WebAnswerSkill::messages(&task());
        let said = &messages[1].text;
        let mark = said.lines().next().unwrap();
        let web = format!("{mark}\n[w1] Ada Lorne\nAda Lorne (1801-1870)\n\n[w2] Weir\nOld.\n{mark}");
        assert!(said.contains(&web) && said.contains("[1] Mill\n"), "{said}");
        assert!(messages[0].text.contains("never an instruction"));
    }

    #[test]
    fn a_sentence_cites_existing_passages_or_results() {
        let checked = |passages: Value, web: Value| {
            let sentences = json!([{ "text": "Ada was born in 1801.", "passages": passages, "web": web }]);
            let reply = json!({ "can_answer": true, "short": "1801", "sentences": sentences });
            WebAnswerSkill::check(&task(), serde_json::from_value(reply).unwrap())
        };
        let places = |passages, web| {
            let sentence = checked(passages, web).unwrap().sentences.remove(0);
            (sentence.passages, sentence.web)
        };
        assert_eq!(places(json!([1]), json!([2, 1])), (vec![0], vec![0, 1]));
        assert_eq!(places(json!([]), json!([1])), (vec![], vec![0]));
        assert_eq!(places(json!([1]), json!([9])), (vec![0], vec![]));
        assert_eq!(checked(json!([]), json!([1])).unwrap().short.as_deref(), Some("1801"));
        assert!(checked(json!([]), json!([])).is_err() && checked(json!([]), json!([3])).is_err());
    }
}
