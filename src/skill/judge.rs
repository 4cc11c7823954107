//! `judge`: how much each of several passages, or of the steps that lead to them, helps a question. Without a model,
//! nothing is judged.

use serde::Deserialize;

use super::answer::place;
use super::lenient;
use super::model::Skill;
use super::pick::FoundPassage;
use crate::domain::{PassageId, Verdict};
use crate::llm::prompt::{self, JUDGE};
use crate::llm::{Message, Purpose};
use crate::text::one_line;

/// Passages that are judged in one call at most.
pub const JUDGED_MAX: usize = 50;
/// Characters of a passage that are shown where a step to it is judged.
const BEGINNING_CHARS: usize = 400;

/// A question, and what is to be judged for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeTask {
    /// The question.
    pub question: String,
    /// The round, from 0.
    pub round: u32,
    /// What is judged; [`JUDGED_MAX`] at most.
    pub items: Vec<JudgedItem>,
}

/// A passage that is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgedItem {
    /// As it is.
    Passage(FoundPassage),
    /// As a step leads to it: by its beginning.
    Step {
        /// What the document is called that the step leaves.
        from: String,
        /// The question that the step follows.
        question: String,
        /// Where it leads.
        to: FoundPassage,
    },
}

impl JudgedItem {
    /// Returns the passage that is judged.
    #[must_use]
    pub fn passage(&self) -> PassageId {
        match self {
            Self::Passage(passage) | Self::Step { to: passage, .. } => passage.passage,
        }
    }

    fn block(&self, number: usize) -> String {
        match self {
            Self::Passage(passage) => passage.block(number),
            Self::Step { from, question, to } => {
                let text = to.text.trim();
                let end = text.char_indices().nth(BEGINNING_CHARS).map(|(end, _)| end);
                let text = end.and_then(|end| text.get(..end)).map_or_else(|| text.to_owned(), |cut| format!("{cut}…"));
                let [name, from, question] = [&to.name, from, question].map(|it| one_line(it));
                format!("[{number}] {name}\n(come to from {from} by: {question})\n{text}")
            }
        }
    }
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct JudgeReply {
    #[serde(deserialize_with = "lenient::numbers")]
    necessary: Vec<i64>,
    #[serde(default, deserialize_with = "lenient::numbers")]
    related: Vec<i64>,
}

/// The skill. It gives a verdict on each item, in order.
#[derive(Debug, Clone, Copy)]
pub struct JudgeSkill;

impl Skill for JudgeSkill {
    type Input = JudgeTask;
    type Reply = JudgeReply;
    type Output = Vec<Verdict>;

    const NAME: &'static str = "judge";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/judge.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 512;

    fn messages(task: &JudgeTask) -> Vec<Message> {
        let passages = task.items.iter().zip(1..).map(|(item, number)| item.block(number));
        let passages = passages.collect::<Vec<_>>().join("\n\n");
        let question = one_line(&task.question);
        let mark = prompt::mark(&[&question, &passages]);
        let places = [("mark", mark.as_str()), ("question", question.as_str()), ("passages", passages.as_str())];
        prompt::messages(JUDGE, &places)
    }

    fn shown(task: &JudgeTask) -> Vec<PassageId> {
        task.items.iter().map(JudgedItem::passage).collect()
    }

    fn step(task: &JudgeTask) -> u32 {
        task.round
    }

    fn check(task: &JudgeTask, reply: JudgeReply) -> Result<Vec<Verdict>, String> {
        let count = task.items.len();
        let mut verdicts = vec![Verdict::default(); count];
        let said = [(&reply.necessary, Verdict::Necessary), (&reply.related, Verdict::Related)];
        let said = said.into_iter().flat_map(|(numbers, verdict)| numbers.iter().map(move |it| (*it, verdict)));
        let (mut is_any_shown, mut problem) = (false, None);
        for (number, verdict) in said {
            match place(number, count).and_then(|place| verdicts.get_mut(place)) {
                // Of two verdicts the lesser, which comes last, counts.
                Some(kept) => {
                    *kept = verdict;
                    is_any_shown = true;
                }
                None => problem = Some(format!("it judges passage {number}; there are 1 to {count}")),
            }
        }
        match problem {
            Some(problem) if !is_any_shown => Err(problem),
            _ => Ok(verdicts),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> JudgeTask {
        let passage = |name: &str, text: &str| FoundPassage {
            passage: PassageId::of(&[name.as_bytes()]),
            name: name.to_owned(),
            text: text.to_owned(),
            reached_by: None,
        };
        let items = vec![
            JudgedItem::Passage(passage("Harl Mill", "It was built by Ada Lorne.")),
            JudgedItem::Step {
                from: "Harl\nMill".to_owned(),
                question: "Who is Ada Lorne?".to_owned(),
                to: passage("Ada Lorne", &"é".repeat(1_000)),
            },
            JudgedItem::Passage(passage("Vell", "A town.")),
        ];
        JudgeTask { question: "Where was its builder born?".to_owned(), round: 2, items }
    }

    #[test]
    fn a_model_sees_passages_whole_and_the_beginning_of_where_a_step_leads() {
        let messages = JudgeSkill::messages(&task());
        let [_, user] = &messages[..] else { panic!("two messages") };
        let beginning = "é".repeat(BEGINNING_CHARS);
        let expect = format!(
            "[1] Harl Mill\nIt was built by Ada Lorne.\n\n[2] Ada Lorne\n(come to from Harl Mill by: Who is Ada \
             Lorne?)\n{beginning}…\n\n[3] Vell\nA town.\n==="
        );
        assert!(user.text.contains(&expect), "{user:?}");
        assert_eq!((JudgeSkill::shown(&task()).len(), JudgeSkill::step(&task())), (3, 2));
    }

    #[test]
    fn each_passage_has_one_verdict_and_what_is_not_named_is_of_no_use() {
        let check = |necessary: &[i64], related: &[i64]| {
            JudgeSkill::check(&task(), JudgeReply { necessary: necessary.into(), related: related.into() })
        };
        assert_eq!(check(&[2], &[3]), Ok(vec![Verdict::Irrelevant, Verdict::Necessary, Verdict::Related]));
        assert_eq!(check(&[], &[]), Ok(vec![Verdict::Irrelevant; 3]));
        let [only, lesser] =
            [Verdict::Necessary, Verdict::Related].map(|it| Ok(vec![Verdict::Irrelevant, it, Verdict::Irrelevant]));
        assert_eq!((check(&[2], &[2]), check(&[2, 2], &[]), check(&[2, 9], &[0])), (lesser, only.clone(), only));
        for wrong in [0, 4, -1, i64::MAX] {
            let why = Err(format!("it judges passage {wrong}; there are 1 to 3"));
            assert_eq!((check(&[wrong], &[]), check(&[], &[wrong])), (why.clone(), why));
        }
    }
}
