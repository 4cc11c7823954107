//! `extract`: the entities of a passage and the relations between them, in one call (`HiRAG`, section on `HiIndex`),
//! and `propose`: types of entities (`types`).
//!
//! Names and quotations that do not occur in the passage are left out and counted: a model that makes things up adds
//! nothing to an index.

mod calls;
mod found;
mod types;

use serde::Deserialize;

use super::generate::GenerateTask;
use super::lenient;
use super::model::Skill;
use crate::domain::{ENTITIES_MAX, Extraction, PassageId, RELATIONS_MAX, STRENGTH_MAX};
use crate::llm::prompt::{self, EXTRACT};
use crate::llm::{Message, Purpose};
use crate::text::one_line;
pub use calls::{ExtractCalls, NameReply, NameSkill, RelateReply, RelateSkill, RelateTask};
use found::Finder;
pub use types::{
    ENTITY_TYPES_DEFAULT, EntityTypes, ProposeReply, ProposeSkill, ProposeTask, SAMPLES_MAX, TYPES_MAX, sample,
};

/// A passage whose entities are requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractTask {
    /// The passage, and its context.
    pub passage: GenerateTask,
    /// The types that an entity may have.
    pub types: EntityTypes,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct ExtractReply {
    entities: Vec<EntityReply>,
    #[serde(default)]
    relations: Vec<RelationReply>,
}

/// An entity as a model names it.
#[derive(Debug, Deserialize)]
struct EntityReply {
    #[serde(default, deserialize_with = "lenient::text")]
    name: String,
    #[serde(default, rename = "type", deserialize_with = "lenient::text")]
    kind: String,
    #[serde(default, deserialize_with = "lenient::text")]
    description: String,
}

/// A relation as a model names it.
#[derive(Debug, Deserialize)]
struct RelationReply {
    #[serde(default, deserialize_with = "lenient::text")]
    source: String,
    #[serde(default, deserialize_with = "lenient::text")]
    target: String,
    #[serde(default, deserialize_with = "lenient::text")]
    description: String,
    /// None counts as the least.
    #[serde(default, deserialize_with = "lenient::amount")]
    strength: Option<f64>,
    #[serde(default, deserialize_with = "lenient::text")]
    evidence: String,
}

/// The skill. It gives the findings that occur in the passage, in the model's order.
#[derive(Debug, Clone, Copy)]
pub struct ExtractSkill;

impl Skill for ExtractSkill {
    type Input = ExtractTask;
    type Reply = ExtractReply;
    type Output = Extraction;

    const NAME: &'static str = "extract";
    const SCHEMA: &'static str = include_str!("../../../schemas/llm/extract.schema.json");
    const PURPOSE: Purpose = Purpose::Index;
    const OUTPUT_TOKENS_MAX: u32 = 2_048;

    fn messages(task: &ExtractTask) -> Vec<Message> {
        let types = task.types.listed();
        let bounds = [ENTITIES_MAX.to_string(), RELATIONS_MAX.to_string(), STRENGTH_MAX.to_string()];
        let places = [
            ("types", types.as_str()),
            ("entities_max", &bounds[0]),
            ("relations_max", &bounds[1]),
            ("strength_max", &bounds[2]),
        ];
        about_passage(task, EXTRACT, &places)
    }

    fn shown(task: &ExtractTask) -> Vec<PassageId> {
        vec![task.passage.passage.id]
    }

    fn check(task: &ExtractTask, reply: ExtractReply) -> Result<Extraction, String> {
        let passage = &task.passage.passage;
        let found = Finder::of(passage, &task.types).with_entities(&reply.entities)?;
        let mut finder = Finder::with(passage, &task.types, found);
        for relation in &reply.relations {
            finder.add_relation(relation);
        }
        Ok(finder.found())
    }
}

/// Returns what is sent about a passage: the places of a prompt that have to do with it, and others beside them.
fn about_passage(task: &ExtractTask, template: &str, others: &[(&str, &str)]) -> Vec<Message> {
    let GenerateTask { name, passage } = &task.passage;
    let name = one_line(name);
    let section = passage.section.as_deref().map_or_else(|| "–".to_owned(), one_line);
    let text = passage.text.trim();
    let said: Vec<&str> = [name.as_str(), &section, text].into_iter().chain(others.iter().map(|it| it.1)).collect();
    let mark = prompt::mark(&said);
    let own = [("mark", mark.as_str()), ("name", &name), ("section", &section), ("passage", text)];
    prompt::messages(template, &[&own, others].concat())
}

#[cfg(test)]
mod tests;
