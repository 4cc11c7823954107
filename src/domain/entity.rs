//! Entities: what names stand for, and which names were merged.

use serde::{Deserialize, Serialize};

use super::{Citation, EntityId, IndexVersion, Origin};

/// A merge or split of two names by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NameVerdict {
    /// They stand for one entity.
    Same,
    /// They stand for different entities.
    Apart,
}

/// Two names, and their merge or split by hand, which overrides rules.
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
    /// Those with this text in one of their names; by default, all.
    pub text: Option<String>,
    /// Those of this type.
    pub of_type: Option<String>,
}

/// The type of an entity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntityType {
    /// The word for it: person, place, organization, work or event by rule, any by a model.
    pub name: String,
    /// What found it: a rule or a model.
    pub origin: Origin,
    /// The sentence with the cue; none if the name or a model gives the type.
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
    /// Names merged into another, in all documents or in one.
    pub merged: u64,
    /// The entities.
    pub entities: Vec<ListedEntity>,
}

/// A name merged into another.
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
    /// The document in which it does, by the id of its source; none if it does in all.
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
    /// Merges and splits by hand, applied or waiting for the next run.
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
    /// Its entry in a list.
    #[serde(flatten)]
    pub listed: ListedEntity,
    /// Its type and the cue for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_type: Option<EntityType>,
    /// Why its other names are names of it, in every document or in one.
    pub merges: Vec<NameMerge>,
    /// Sentences that mention it, one a passage, the first.
    pub mentions: Vec<Citation>,
    /// Its relations, the strongest first.
    pub relations: Vec<RelatedEntity>,
    /// Titles of the topics that it belongs to, the largest first.
    pub topics: Vec<String>,
}

/// The entities that a name stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntitiesShown {
    /// The version of the index.
    pub version: IndexVersion,
    /// The entities: several if documents mean different ones by the name.
    pub entities: Vec<EntityShown>,
}

/// The result of a merge or split by hand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamesAsked {
    /// The current merge or split.
    #[serde(flatten)]
    pub pair: NamePair,
    /// The earlier one of the same names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<NameVerdict>,
}
