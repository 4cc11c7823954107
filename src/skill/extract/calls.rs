//! Whether a model finds entities and relations of a passage in one call or two.

use serde::Deserialize;

use super::found::Finder;
use super::{EntityReply, ExtractSkill, ExtractTask, RelationReply, about_passage};
use crate::domain::{
    Cancellation, ENTITIES_MAX, ExtractedEntity, Extraction, PassageId, RELATIONS_MAX, STRENGTH_MAX, Spent,
};
use crate::error::{Error, Result};
use crate::llm::prompt::{EXTRACT, NAME, RELATE};
use crate::llm::{ChatModel, ChatRequest, Message, Purpose};
use crate::skill::generate::Written;
use crate::skill::model::Skill;
use crate::skill::{Degradation, KeptUnusable, PerformOptions, Performed, chat_request, perform_with};
use crate::text::one_line;

/// How a model is asked for the entities and relations of a passage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExtractCalls {
    /// For both in one call.
    #[default]
    Together,
    /// For entities, and then for the relations between those that were found, as `HiRAG` does (section on `HiIndex`):
    /// up to twice the calls.
    Separate,
}

impl ExtractCalls {
    /// Returns the prompts and schemas that are sent, in order; if they change, so may the entities.
    #[must_use]
    pub fn texts(self) -> String {
        match self {
            Self::Together => [EXTRACT, ExtractSkill::SCHEMA].join("\n"),
            Self::Separate => [NAME, NameSkill::SCHEMA, RELATE, RelateSkill::SCHEMA].join("\n"),
        }
    }

    /// Returns the requests about a passage, without repairs.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Internal`] for a schema that is not JSON.
    pub fn requests(self, task: &ExtractTask) -> Result<Vec<ChatRequest>> {
        match self {
            Self::Together => Ok(vec![chat_request::<ExtractSkill>(task)?]),
            Self::Separate => {
                let relate = RelateTask { task: task.clone(), found: Extraction::default() };
                Ok(vec![chat_request::<NameSkill>(task)?, chat_request::<RelateSkill>(&relate)?])
            }
        }
    }

    /// Asks a model for the entities of a passage and the relations between them; `unusable` says what to do with an
    /// unusable kept reply. If the first of two calls gives fewer than two entities, or the run is cancelled in
    /// between, there is no second.
    ///
    /// # Cancel safety
    ///
    /// As [`crate::skill::perform`].
    pub async fn find(
        self,
        model: &dyn ChatModel,
        task: ExtractTask,
        unusable: KeptUnusable,
        cancellation: &Cancellation,
    ) -> Written<Extraction> {
        let mut spent = Spent::default();
        let options = || PerformOptions { listener: None, unusable };
        let outcome = match self {
            Self::Together => counted(perform_with::<ExtractSkill>(model, &task, options()).await, &mut spent),
            Self::Separate => match counted(perform_with::<NameSkill>(model, &task, options()).await, &mut spent) {
                Ok(Ok(found)) if found.entities.len() < 2 => Ok(Ok(found)),
                Ok(Ok(_)) if cancellation.is_cancelled() => Err(Error::Cancelled),
                Ok(Ok(found)) => {
                    let relate = RelateTask { task, found };
                    counted(perform_with::<RelateSkill>(model, &relate, options()).await, &mut spent)
                }
                other => other,
            },
        };
        Written { outcome, spent }
    }
}

/// Returns the result of a call, and counts its cost.
fn counted<T>(performed: Result<Performed<T>>, spent: &mut Spent) -> Result<Result<T, Degradation>> {
    let Performed { outcome, spent: own } = performed?;
    spent.add(&own);
    Ok(outcome)
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct NameReply {
    entities: Vec<EntityReply>,
}

/// The skill that finds entities alone.
#[derive(Debug, Clone, Copy)]
pub struct NameSkill;

impl Skill for NameSkill {
    type Input = ExtractTask;
    type Reply = NameReply;
    type Output = Extraction;

    const NAME: &'static str = "name";
    const SCHEMA: &'static str = include_str!("../../../schemas/llm/name.schema.json");
    const PURPOSE: Purpose = Purpose::Index;
    const OUTPUT_TOKENS_MAX: u32 = 1_024;

    fn messages(task: &ExtractTask) -> Vec<Message> {
        let types = task.types.listed();
        let most = ENTITIES_MAX.to_string();
        about_passage(task, NAME, &[("types", &types), ("entities_max", &most)])
    }

    fn shown(task: &ExtractTask) -> Vec<PassageId> {
        vec![task.passage.passage.id]
    }

    fn check(task: &ExtractTask, reply: NameReply) -> Result<Extraction, String> {
        Finder::of(&task.passage.passage, &task.types).with_entities(&reply.entities)
    }
}

/// A passage, and the entities that were found in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelateTask {
    /// The passage, and the types of its entities.
    pub task: ExtractTask,
    /// The entities.
    pub found: Extraction,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct RelateReply {
    relations: Vec<RelationReply>,
}

/// The skill that finds the relations between entities that are known. It gives these too.
#[derive(Debug, Clone, Copy)]
pub struct RelateSkill;

impl Skill for RelateSkill {
    type Input = RelateTask;
    type Reply = RelateReply;
    type Output = Extraction;

    const NAME: &'static str = "relate";
    const SCHEMA: &'static str = include_str!("../../../schemas/llm/relate.schema.json");
    const PURPOSE: Purpose = Purpose::Index;
    const OUTPUT_TOKENS_MAX: u32 = 1_536;

    fn messages(RelateTask { task, found }: &RelateTask) -> Vec<Message> {
        let text = &task.passage.passage.text;
        let name = |it: &ExtractedEntity| {
            let written = it.spans.first().map_or(it.name.as_str(), |span| span.of(text));
            format!("- {}", one_line(written))
        };
        let entities: Vec<String> = found.entities.iter().map(name).collect();
        let (entities, relations, strength) =
            (entities.join("\n"), RELATIONS_MAX.to_string(), STRENGTH_MAX.to_string());
        let places = [("entities", entities.as_str()), ("relations_max", &relations), ("strength_max", &strength)];
        about_passage(task, RELATE, &places)
    }

    fn shown(input: &RelateTask) -> Vec<PassageId> {
        NameSkill::shown(&input.task)
    }

    fn check(RelateTask { task, found }: &RelateTask, reply: RelateReply) -> Result<Extraction, String> {
        let mut finder = Finder::with(&task.passage.passage, &task.types, found.clone());
        for relation in &reply.relations {
            finder.add_relation(relation);
        }
        Ok(finder.found())
    }
}
