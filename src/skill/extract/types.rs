//! Types of entities: a list from a user or a model. A type is a few plain words, because it becomes part of prompts
//! and of an index.

use std::fmt::Write as _;

use serde::Deserialize;

use crate::domain::PassageId;
use crate::llm::prompt::{self, PROPOSE};
use crate::llm::{Message, Purpose};
use crate::skill::lenient;
use crate::skill::model::Skill;
use crate::text::{one_line, shortened};

/// Types of a list at most.
pub const TYPES_MAX: usize = 24;
/// Characters of a type at most.
const TYPE_CHARS_MAX: usize = 32;
/// Passages that types are proposed from.
pub const SAMPLES_MAX: usize = 12;
/// Characters of such a passage that are shown.
const SAMPLE_CHARS_MAX: usize = 600;
/// Types that a proposal has to have.
const PROPOSED_MIN: usize = 2;
/// Maximum number of types requested.
const PROPOSED_MAX: usize = 12;
/// The default types of entities.
pub const ENTITY_TYPES_DEFAULT: [&str; 8] =
    ["person", "organization", "place", "event", "work", "product", "technology", "concept"];

/// The types that entities may have, each once, in the order given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityTypes(Vec<String>);

impl Default for EntityTypes {
    fn default() -> Self {
        Self(ENTITY_TYPES_DEFAULT.map(str::to_owned).to_vec())
    }
}

impl EntityTypes {
    /// Returns the types of a list: words of letters and digits, in lower case, joined by a space or hyphen.
    ///
    /// # Errors
    ///
    /// The fault of the list.
    pub fn parse<T: AsRef<str>>(listed: &[T]) -> Result<Self, String> {
        let mut types: Vec<String> = Vec::new();
        for listed in listed {
            let kind = folded(listed.as_ref());
            if !is_type(&kind) {
                return Err(format!("`{}` is no type of one or a few words", one_line(listed.as_ref())));
            }
            if !types.contains(&kind) {
                types.push(kind);
            }
        }
        match types.len() {
            0 => Err("it names no type".to_owned()),
            count if count > TYPES_MAX => Err(format!("it names {count} types; {TYPES_MAX} are allowed")),
            _ => Ok(Self(types)),
        }
    }

    /// Returns the types in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns them as a prompt lists them.
    #[must_use]
    pub fn listed(&self) -> String {
        self.0.join(", ")
    }

    /// Returns the type with this name, if there is one.
    #[must_use]
    pub fn find(&self, kind: &str) -> Option<String> {
        let kind = folded(kind);
        self.0.iter().find(|known| **known == kind).cloned()
    }
}

fn folded(kind: &str) -> String {
    one_line(kind).to_lowercase().replace('_', " ")
}

fn is_type(kind: &str) -> bool {
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, ' ' | '-');
    kind.chars().any(char::is_alphabetic) && kind.chars().all(is_plain) && kind.chars().count() <= TYPE_CHARS_MAX
}

/// Returns which of `count` passages types are proposed from: evenly spread, so that no document says it all.
#[must_use]
pub fn sample(count: usize) -> Vec<usize> {
    let shown = count.min(SAMPLES_MAX);
    (0..shown).map(|number| number * count / shown).collect()
}

/// Passages that types are proposed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposeTask {
    /// The name of each passage's document, and its text.
    pub passages: Vec<(PassageId, String, String)>,
}

/// A reply as the schema has it.
#[derive(Debug, Deserialize)]
pub struct ProposeReply {
    #[serde(deserialize_with = "lenient::texts")]
    pub(super) types: Vec<String>,
}

/// The skill. It gives types of entities that fit a collection.
#[derive(Debug, Clone, Copy)]
pub struct ProposeSkill;

impl Skill for ProposeSkill {
    type Input = ProposeTask;
    type Reply = ProposeReply;
    type Output = EntityTypes;

    const NAME: &'static str = "propose";
    const SCHEMA: &'static str = include_str!("../../../schemas/llm/propose.schema.json");
    const PURPOSE: Purpose = Purpose::Index;
    const OUTPUT_TOKENS_MAX: u32 = 256;

    fn messages(task: &ProposeTask) -> Vec<Message> {
        let mut passages = String::new();
        for (number, (_, name, text)) in task.passages.iter().enumerate() {
            let (name, text) = (one_line(name), text.trim());
            let text = shortened(text, SAMPLE_CHARS_MAX).unwrap_or_else(|| text.to_owned());
            let gap = if number == 0 { "" } else { "\n\n" };
            // Writing to a string cannot fail.
            let _written = write!(passages, "{gap}Document: {name}\n{text}");
        }
        let mark = prompt::mark(&[&passages]);
        let places =
            [("mark", mark.as_str()), ("passages", passages.as_str()), ("types_max", &PROPOSED_MAX.to_string())];
        prompt::messages(PROPOSE, &places)
    }

    fn shown(task: &ProposeTask) -> Vec<PassageId> {
        task.passages.iter().map(|it| it.0).collect()
    }

    fn check(_: &ProposeTask, reply: ProposeReply) -> Result<EntityTypes, String> {
        let mut types: Vec<String> = Vec::new();
        for kind in reply.types.iter().map(|it| folded(it)).filter(|it| is_type(it)) {
            // An excess is not worth a second call.
            if types.len() < PROPOSED_MAX && !types.contains(&kind) {
                types.push(kind);
            }
        }
        if types.len() < PROPOSED_MIN {
            return Err(format!(
                "`types` has {} types of a few words; at least {PROPOSED_MIN} are needed",
                types.len()
            ));
        }
        Ok(EntityTypes(types))
    }
}
