//! `describe`: merges the descriptions of one entity from many passages if they are too long to keep (`HiRAG`'s public
//! code does so from 500 tokens on).

use serde::Deserialize;

use super::answer::is_supported;
use super::lenient;
use super::model::Skill;
use super::report::listed;
use crate::domain::{EntityDescription, PassageId};
use crate::llm::prompt::{self, DESCRIBE};
use crate::llm::{Message, Purpose};
use crate::text::{model_tokens, one_line, tokens};

/// Words of a description that are asked for at most.
const WORDS_MAX: usize = 300;
/// Tokens of one at most.
const TOKENS_MAX: u64 = 500;

/// An entity, and its descriptions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DescribeTask {
    /// Its name.
    pub name: String,
    /// A model's descriptions of it, by passage.
    pub descriptions: Vec<String>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct DescribeReply {
    #[serde(default, deserialize_with = "lenient::text")]
    description: String,
}

/// The skill. Statements without support in the descriptions are refused.
#[derive(Debug, Clone, Copy)]
pub struct DescribeSkill;

impl Skill for DescribeSkill {
    type Input = DescribeTask;
    type Reply = DescribeReply;
    type Output = EntityDescription;

    const NAME: &'static str = "describe";
    const SCHEMA: &'static str = include_str!("../../schemas/llm/describe.schema.json");
    const PURPOSE: Purpose = Purpose::Index;
    const OUTPUT_TOKENS_MAX: u32 = 1_024;

    fn messages(task: &DescribeTask) -> Vec<Message> {
        let (name, descriptions) = (one_line(&task.name), listed(&task.descriptions));
        let mark = prompt::mark(&[&name, &descriptions]);
        let places = [
            ("mark", mark.as_str()),
            ("name", name.as_str()),
            ("descriptions", descriptions.as_str()),
            ("words_max", &WORDS_MAX.to_string()),
        ];
        prompt::messages(DESCRIBE, &places)
    }

    fn shown(_task: &DescribeTask) -> Vec<PassageId> {
        Vec::new()
    }

    fn check(task: &DescribeTask, reply: DescribeReply) -> Result<EntityDescription, String> {
        let description = one_line(&reply.description);
        if tokens(&description).is_empty() {
            return Err("`description` says nothing".to_owned());
        }
        if model_tokens(&description) > TOKENS_MAX {
            return Err(format!("`description` has more than {WORDS_MAX} words"));
        }
        let said: Vec<&str> = task.descriptions.iter().map(String::as_str).collect();
        if !is_supported(&description, &task.name, &said) {
            return Err("`description` says what is not said of the entity".to_owned());
        }
        Ok(EntityDescription { description })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(description: &str) -> Result<EntityDescription, String> {
        let said = ["Harl Mill is a mill in Vell.", "Ada Lorne built\nHarl Mill in 1802."].map(str::to_owned).to_vec();
        let task = DescribeTask { name: "Harl Mill".to_owned(), descriptions: said };
        let asked = &DescribeSkill::messages(&task)[1].text;
        assert!(asked.contains("Entity: Harl Mill\n\n- Harl Mill is a mill in Vell.\n- Ada Lorne built Harl Mill in"));
        DescribeSkill::check(&task, DescribeReply { description: description.to_owned() })
    }

    #[test]
    fn a_condensed_description_may_only_contain_what_was_said() {
        let whole = check("A mill in Vell,\nbuilt by Ada Lorne in 1802.").unwrap();
        assert_eq!(whole.description, "A mill in Vell, built by Ada Lorne in 1802.");
        for wrong in ["", "…", "A mill in Vell, built by Tom Reed.", "A mill in Vell, built in 1803."] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
        assert!(check(&"A mill in Vell. ".repeat(200)).unwrap_err().contains("words"));
    }
}
