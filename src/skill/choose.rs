//! `choose`: the step from a passage that helps a question most, or none, as in `HopRAG`'s walk. Without a model,
//! similarity takes a step.

use serde::Deserialize;

use super::answer::place;
use super::lenient;
use super::model::Skill;
use super::pick::FoundPassage;
use crate::domain::PassageId;
use crate::llm::prompt::{self, CHOOSE};
use crate::llm::{Message, Purpose};
use crate::text::one_line;

/// Steps that are shown at most.
pub const STEPS_MAX: usize = 32;

/// A question, the position of a walk, and its possible steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChooseTask {
    /// The question.
    pub question: String,
    /// The round, from 0.
    pub round: u32,
    /// The position of the walk.
    pub here: FoundPassage,
    /// Its possible steps, the likeliest first; at most [`STEPS_MAX`].
    pub steps: Vec<StepShown>,
}

/// A step as a model is shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepShown {
    /// The passage that it leads to, which is not shown to the model.
    pub to: PassageId,
    /// The name of the document of that passage.
    pub name: String,
    /// The question that is answered there.
    pub question: String,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct ChooseReply {
    // It has to be there: a reply without it says nothing.
    #[serde(deserialize_with = "lenient::number_or_none")]
    step: Option<i64>,
}

/// The skill. It gives the place of a step in the task, from 0, or none.
#[derive(Debug, Clone, Copy)]
pub struct ChooseSkill;

impl Skill for ChooseSkill {
    type Input = ChooseTask;
    type Reply = ChooseReply;
    type Output = Option<usize>;

    const NAME: &'static str = "choose";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/choose.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 64;

    fn messages(task: &ChooseTask) -> Vec<Message> {
        let step = |(step, number): (&StepShown, usize)| {
            format!("[{number}] {} (answered in: {})", one_line(&step.question), one_line(&step.name))
        };
        let steps = task.steps.iter().zip(1..).map(step).collect::<Vec<_>>().join("\n");
        let passage = format!("{}\n{}", one_line(&task.here.name), task.here.text.trim());
        let question = one_line(&task.question);
        let mark = prompt::mark(&[&question, &passage, &steps]);
        let places = [
            ("mark", mark.as_str()),
            ("question", question.as_str()),
            ("passage", passage.as_str()),
            ("steps", steps.as_str()),
        ];
        prompt::messages(CHOOSE, &places)
    }

    fn shown(task: &ChooseTask) -> Vec<PassageId> {
        task.steps.iter().map(|step| step.to).collect()
    }

    fn step(task: &ChooseTask) -> u32 {
        task.round
    }

    fn check(task: &ChooseTask, reply: ChooseReply) -> Result<Option<usize>, String> {
        let count = task.steps.len();
        let Some(number) = reply.step else { return Ok(None) };
        let place = place(number, count).map(Some);
        place.ok_or_else(|| format!("it chooses step {number}; there are 1 to {count}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> ChooseTask {
        let step = |name: &str, question: &str| StepShown {
            to: PassageId::of(&[name.as_bytes()]),
            name: name.to_owned(),
            question: question.to_owned(),
        };
        let here = FoundPassage {
            passage: PassageId::of(&[b"mill"]),
            name: "Harl\nMill".to_owned(),
            text: " It was built by Ada Lorne.\n".to_owned(),
            reached_by: None,
        };
        let steps = vec![step("Ada Lorne", "Who is\nAda Lorne?"), step("Vell", "Where is Vell?")];
        ChooseTask { question: "Where was its builder born?".to_owned(), round: 1, here, steps }
    }

    #[test]
    fn a_model_sees_where_it_is_and_every_step_with_its_question_and_where_it_leads() {
        let messages = ChooseSkill::messages(&task());
        let [_, user] = &messages[..] else { panic!("two messages") };
        let expect = "Harl Mill\nIt was built by Ada Lorne.\n\nSteps from here:\n[1] Who is Ada Lorne? (answered in: \
                      Ada Lorne)\n[2] Where is Vell? (answered in: Vell)\n===";
        assert!(user.text.contains(expect), "{user:?}");
        let shown = task().steps.iter().map(|step| step.to).collect::<Vec<_>>();
        assert_eq!((ChooseSkill::shown(&task()), ChooseSkill::step(&task())), (shown, 1));
    }

    #[test]
    fn a_step_is_one_of_those_shown_or_none() {
        let check = |step| ChooseSkill::check(&task(), ChooseReply { step });
        assert_eq!((check(Some(2)), check(None)), (Ok(Some(1)), Ok(None)));
        for wrong in [0, 3, -1, i64::MAX] {
            assert_eq!(check(Some(wrong)), Err(format!("it chooses step {wrong}; there are 1 to 2")));
        }
        assert!(serde_json::from_str::<ChooseReply>("{}").is_err());
        assert!(serde_json::from_str::<ChooseReply>(r#"{"step": null}"#).is_ok());
    }
}
