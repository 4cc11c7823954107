//! Entities: what names stand for, and which names were merged.

use serde::{Deserialize, Serialize};

use super::{Citation, EntityId, IndexVersion, Origin};

/// What somebody said of two names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NameVerdict {
    /// They are names of one thing.
    Same,
    /// They are names of different things.
    Apart,
}

/// Two names, and what somebody said of them: it comes before what rules say.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NamePair {
    /// The first of the two: folded words joined by one space.
    pub one: String,
    /// The other.
    pub other: String,
    /// Which.
    pub verdict: NameVerdict,
}

/// Which entities are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntityOptions {
    /// Those with a name that has this text in it; all where there is none.
    pub text: Option<String>,
    /// Those of this type.
    pub of_type: Option<String>,
}

/// What kind of thing an entity is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityType {
    /// The word for it: person, place, organization, work or event by rule, any by a model.
    pub name: String,
    /// What found it: a rule or a model.
    pub origin: Origin,
    /// The sentence that says so; none where the name or a model does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Citation>,
}

/// An entity in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedEntity {
    /// Its identity: of the folded name that stands for it.
    pub id: EntityId,
    /// That name, as documents write it.
    pub name: String,
    /// Its type, where something says so.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub entity_type: Option<String>,
    /// Its other names, as documents write them, that it has in every document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Passages that mention it by any of its names.
    pub passages: u64,
}

/// The entities of an index: those in the most passages first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityList {
    /// The version of the index.
    pub version: IndexVersion,
    /// Names in it.
    pub names: u64,
    /// Names that stand for what another name stands for, in all documents or in one.
    pub merged: u64,
    /// The entities.
    pub entities: Vec<ListedEntity>,
}

/// A name that stands for what another stands for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameMerge {
    /// The name, as documents write it.
    pub name: String,
    /// The name that stands for the entity.
    pub entity: String,
    /// The name of the entity that it was merged with.
    pub with: String,
    /// Why, in a word.
    pub reason: String,
    /// The document in which it does, by the id that its source gives it; none where it does so in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
}

/// The merges of names in an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameMerges {
    /// The version of the index.
    pub version: IndexVersion,
    /// Those that hold in every document, and then those that hold in one.
    pub merges: Vec<NameMerge>,
    /// What was asked for, applied or waiting for the next run.
    pub asked: Vec<NamePair>,
}

/// An entity that another is related to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RelatedEntity {
    /// Its identity.
    pub id: EntityId,
    /// Its name, as documents write it.
    pub name: String,
    /// How much says so.
    pub weight: f32,
    /// The sentence that says most of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Citation>,
}

/// All that an index has of an entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityShown {
    /// What a list has of it.
    #[serde(flatten)]
    pub listed: ListedEntity,
    /// Its type and what says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_type: Option<EntityType>,
    /// Why its other names are names of it, in every document or in one.
    pub merges: Vec<NameMerge>,
    /// Sentences that mention it, one a passage, the first.
    pub mentions: Vec<Citation>,
    /// What it is related to, the strongest first.
    pub relations: Vec<RelatedEntity>,
    /// Titles of the topics that it belongs to, the largest first.
    pub topics: Vec<String>,
}

/// The entities that a name stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntitiesShown {
    /// The version of the index.
    pub version: IndexVersion,
    /// The entities: several where documents mean different things by the name.
    pub entities: Vec<EntityShown>,
}

/// What was asked for of two names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamesAsked {
    /// What is kept now.
    #[serde(flatten)]
    pub pair: NamePair,
    /// What was kept of them before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<NameVerdict>,
}
