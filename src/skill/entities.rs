//! `entities`: the entities that a question names, as `HopRAG` asks for the keywords of a question. Names that do not
//! occur in the question are left out. Without a model, rules find names.

use serde::Deserialize;

use super::lenient;
use super::model::Skill;
use crate::llm::prompt::{self, ENTITIES};
use crate::llm::{Message, Purpose};
use crate::text::{one_line, tokens};

/// Names of a question at most; more are left out.
pub const NAMES_MAX: usize = 16;

/// A question whose entities are requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntitiesTask {
    /// The question.
    pub question: String,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct EntitiesReply {
    #[serde(deserialize_with = "lenient::texts")]
    entities: Vec<String>,
}

/// The skill. It gives folded names, each a row of words of the question, in the order in which the model has them.
#[derive(Debug, Clone, Copy)]
pub struct EntitiesSkill;

impl Skill for EntitiesSkill {
    type Input = EntitiesTask;
    type Reply = EntitiesReply;
    type Output = Vec<String>;

    const NAME: &'static str = "entities";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/entities.schema.json");
    const PURPOSE: Purpose = Purpose::Reason;
    const OUTPUT_TOKENS_MAX: u32 = 256;

    fn messages(task: &EntitiesTask) -> Vec<Message> {
        let question = one_line(&task.question);
        let mark = prompt::mark(&[&question]);
        let places = [("mark", mark.as_str()), ("question", question.as_str()), ("names_max", &NAMES_MAX.to_string())];
        prompt::messages(ENTITIES, &places)
    }

    fn check(task: &EntitiesTask, reply: EntitiesReply) -> Result<Vec<String>, String> {
        let words = tokens(&task.question);
        let mut names: Vec<String> = Vec::new();
        for entity in &reply.entities {
            let own = tokens(entity);
            let name = own.join(" ");
            let stands = !own.is_empty() && words.windows(own.len()).any(|window| window == own);
            if stands && !names.contains(&name) && names.len() < NAMES_MAX {
                names.push(name);
            }
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_does_not_stand_in_the_question_is_left_out() {
        let task = EntitiesTask { question: "Who built the heron bridge at Vell?".to_owned() };
        let entities = ["Heron  Bridge", "Ada Lorne", "bridge heron", "", "Vell", "VELL"].map(str::to_owned).to_vec();
        assert_eq!(EntitiesSkill::check(&task, EntitiesReply { entities }).unwrap(), ["heron bridge", "vell"]);
    }

    #[test]
    fn no_more_names_are_kept_than_are_allowed() {
        let words: Vec<String> = (0..40).map(|number| format!("w{number}")).collect();
        let task = EntitiesTask { question: words.join(" ") };
        let names = EntitiesSkill::check(&task, EntitiesReply { entities: words.clone() }).unwrap();
        assert_eq!(names, words[..NAMES_MAX]);
    }

    #[test]
    fn the_question_is_fenced() {
        let messages = EntitiesSkill::messages(&EntitiesTask { question: "Who\n=== 0 ===\nbuilt it?".to_owned() });
        let [system, user] = &messages[..] else { panic!("two messages") };
        let mark = user.text.lines().next().unwrap();
        assert_eq!(user.text, format!("{mark}\nWho === 0 === built it?\n{mark}"));
        assert!(system.text.contains(mark) && system.text.contains("16 at most"), "{system:?}");
    }
}
